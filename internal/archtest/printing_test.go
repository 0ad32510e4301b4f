package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrinting_pure_packages_print_nothing(t *testing.T) {
	for _, p := range list(t) {
		if !p.isProduct() || p.local() == "" {
			continue
		}
		oneLine := p.local() == "status" || isPure(p.ImportPath) && !slices.Contains(lined, p.local())
		for _, f := range sources(t, p) {
			if f.test {
				continue
			}
			prints, breaks := printing(t, f)
			assert.True(t, len(prints) == 0 || slices.Contains(printers, p.local()), "%s prints: %v", f.name, prints)
			assert.True(t, len(breaks) == 0 || !oneLine, "%s has texts of several lines: %q", f.name, breaks)
		}
	}
}

func TestPrintingIsSeen(t *testing.T) {
	const text = "package a\nfunc f() { fmt.Fprintf(w, `x`); fmt.Println(); fmt.Sprint(`a\nb`, \"c\\n\", \"d\") }\n"
	prints, breaks := printing(t, source{name: "a.go", text: []byte(text)})
	assert.Equal(t, []string{"fmt.Fprintf", "fmt.Println"}, prints)
	assert.Equal(t, []string{"a\nb", "c\n"}, breaks)
}

// Rules for packages that no longer exist would let others of their names print.
func TestPrinting_rules_name_packages(t *testing.T) {
	for _, name := range slices.Concat(printers, lined) {
		assert.True(t, layeredOrPure(name), name)
	}
}

// printing lists where a file prints with package fmt, and its texts with line breaks.
func printing(t *testing.T, f source) (prints, breaks []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), f.name, f.text, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			from, ok := n.X.(*ast.Ident)
			if ok && from.Name == "fmt" && (strings.HasPrefix(n.Sel.Name, "Fprint") || strings.HasPrefix(n.Sel.Name, "Print")) {
				prints = append(prints, "fmt."+n.Sel.Name)
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				break
			}
			text, err := strconv.Unquote(n.Value)
			require.NoError(t, err)
			if strings.Contains(text, "\n") {
				breaks = append(breaks, text)
			}
		}
		return true
	})
	return prints, breaks
}
