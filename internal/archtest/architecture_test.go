package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// architecture returns a part of ARCHITECTURE.md.
func architecture(t *testing.T, from, to string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	_, part, found := strings.Cut(string(text), from)
	require.True(t, found, from)
	part, _, found = strings.Cut(part, to)
	require.True(t, found, to)
	return part
}

func TestArchitecture_lists_layers_and_pure_packages(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("cmd\n")
	for _, layer := range Layers {
		lines.WriteString(strings.Join(layer, "   ") + "\n")
	}
	assert.Equal(t, lines.String(), architecture(t, "The layers are:\n\n```\n", "```"))
	var pure []string
	for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(architecture(t, "the pure packages (", ")"), -1) {
		pure = append(pure, name[1])
	}
	assert.Equal(t, Pure, pure)
}

// walked matches the name of a function or method in the walk.
var walked = regexp.MustCompile("`[A-Za-z]+\\.([A-Za-z]+)`")

func TestArchitecture_walk_names_existing_functions(t *testing.T) {
	declared := map[string]bool{}
	for _, p := range list(t) {
		for _, f := range code(t, p) {
			ast.Inspect(f.parse(t), func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					declared[n.Name.Name] = true
				case *ast.TypeSpec:
					declared[n.Name.Name] = true
				}
				return true
			})
		}
	}
	names := walked.FindAllStringSubmatch(architecture(t, "### A walk", "## Invariants"), -1)
	require.Greater(t, len(names), 15)
	for _, name := range names {
		assert.Truef(t, declared[name[1]], "%s is in no package", name[0])
	}
}
