package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stilted are words that the product's sources, its charm's files and its documents don't have, with their
// replacements.
var stilted = map[*regexp.Regexp]string{
	regexp.MustCompile(`\b([Ww]ho|[Ww]hom|[Ww]hoever|[Ss]omebody|[Nn]obody|[Aa]nybody|[Ee]verybody)\b`): "name the unit, member, server, client or database; only a person is one who does something",
	regexp.MustCompile(`\bnonsense\b`):                                   "invalid data",
	regexp.MustCompile(`(?i)\bstands? behind (it|them|a member)\b`):      "it belongs to",
	regexp.MustCompile(`\b(is|be|are) no members? (of .+ )?any ?more\b`): "is no longer a member",
	regexp.MustCompile(`\d+[hms]\d*s? are over\b`):                       "timed out after",
}

// aboutPeople matches these words where they mean a person.
var aboutPeople = regexp.MustCompile(`(?i)\b(person|people|operators?|engineers?|users?) who\b|\bby whom\b|^## Who may do what$`)

func TestWords_plain_English(t *testing.T) {
	for _, p := range list(t) {
		if p.local() == "" && !p.isProduct() {
			continue
		}
		for _, f := range sources(t, p) {
			if !f.test {
				assert.Empty(t, stiltedLines(f.name, string(f.text)))
			}
		}
	}
	for _, pattern := range []string{"*.md", "*.yaml", "docs/*.md", "docs/*/*.md", "internal/monitoring/*.json", "internal/present/testdata/*.txt"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.Empty(t, stiltedLines(name, string(text)))
		}
	}
}

func TestWords_stilted_are_found(t *testing.T) {
	text := "// a unit that nobody knows\n// a person who waits, when and by whom\n| \"who leads\" | \"which member leads\" |\n// whose file it is\n// Who leads decides.\n// it is no member of sb any more\n"
	found := stiltedLines("a.go", text)
	require.Len(t, found, 3)
	assert.Contains(t, found[0], "a unit that nobody knows")
	assert.Contains(t, found[1], "Who leads decides")
	assert.Contains(t, found[2], "is no longer a member")
}

// stiltedLines lists the lines of a text with such a word; those of CONTRIBUTING.md's table of
// what to avoid quote them.
func stiltedLines(name, text string) (found []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, `| "`) {
			continue
		}
		rest := aboutPeople.ReplaceAllString(line, "")
		for words, instead := range stilted {
			if words.MatchString(rest) {
				found = append(found, name+": "+line+": "+instead)
			}
		}
	}
	return found
}
