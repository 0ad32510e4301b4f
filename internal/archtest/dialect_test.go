package archtest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dialect are phrases that comments don't have, with their replacements.
var dialect = map[*regexp.Regexp]string{
	regexp.MustCompile(`\b[Ss]ays? (whether|that|of)\b`):              "reports whether",
	regexp.MustCompile(`\b(that|which|value|one) (is|are) none\b`):    "invalid, or not a …",
	regexp.MustCompile(`\bstands?\b`):                                 "is, exists, has",
	regexp.MustCompile(`\b(go|goes|going|gone|went) on\b`):            "continue",
	regexp.MustCompile(`\banew\b`):                                    "again, new",
	regexp.MustCompile(`\blest\b`):                                    "otherwise",
	regexp.MustCompile(`\bwhat there is\b`):                           "the noun",
	regexp.MustCompile(`\blikewise\b`):                                "also",
	regexp.MustCompile(`\bis told\b`):                                 "gets, reads",
	regexp.MustCompile(`\bwhere (none|there (is|are)|that (is|can))`): "if",
}

func TestWords_no_dialect_in_comments(t *testing.T) {
	for _, p := range list(t) {
		for _, f := range sources(t, p) {
			assert.Empty(t, dialectLines(strings.TrimPrefix(f.name, module+"/"), string(f.text)))
		}
	}
}

func TestWords_dialect_is_found(t *testing.T) {
	text := "// ok says whether it is there.\nx := 1 /" + "/ begins anew\nlog(\"goes on\")\n// if there is none\n"
	found := dialectLines("a.go", text)
	require.Len(t, found, 2)
	assert.Contains(t, found[0], "says whether")
	assert.Contains(t, found[1], "anew")
}

// dialectLines lists the lines with a comment that has one of the phrases.
func dialectLines(name, text string) (found []string) {
	for line := range strings.Lines(text) {
		_, comment, _ := strings.Cut(" "+strings.TrimSpace(line), " //")
		for words, instead := range dialect {
			if words.MatchString(comment) {
				found = append(found, name+": "+strings.TrimSpace(line)+": "+instead)
			}
		}
	}
	return found
}
