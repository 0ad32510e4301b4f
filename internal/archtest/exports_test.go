package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// called are methods that libraries call by interfaces of their own.
var called = []string{
	"Enabled", "Error", "Format", "Handle", "Is", "LogValue", "MarshalJSON", "MarshalText", "ServeHTTP",
	"String", "Unwrap", "UnmarshalJSON", "UnmarshalText", "UnmarshalYAML", "MarshalYAML", "WithAttrs", "WithGroup", "Write", "Collect", "Describe",
	"CloneModel", "CloneModelInto", "EqualsModel", // of libovsdb's rows
}

// What only tests call is no part of the program. The linker's view (deadcode) does not show
// methods, which reflection may reach.
func TestNothingIsExportedForTestsAlone(t *testing.T) {
	var files []source
	for _, p := range list(t) {
		if p.isProduct() {
			files = append(files, sources(t, p)...)
		}
	}
	assert.Empty(t, namedByTestsAlone(t, files))
}

func TestExportForTestsAloneIsSeen(t *testing.T) {
	files := []source{
		{name: "a.go", text: []byte("package a\nfunc Used() {}\nfunc Tested() {}\nfunc (s S) Read() { Used() }\nfunc (s S) String() string { return \"\" }\n")},
		{name: "a_test.go", test: true, text: []byte("package a\nfunc f(s S) { Tested(); s.Read() }\n")},
	}
	assert.Equal(t, []string{"a.go: Read", "a.go: Tested"}, namedByTestsAlone(t, files))
}

// namedByTestsAlone lists functions and methods whose exported names stand nowhere but in
// their declarations and in tests.
func namedByTestsAlone(t *testing.T, files []source) []string {
	t.Helper()
	declared, named := map[string]string{}, map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.name, f.text, parser.SkipObjectResolution)
		require.NoError(t, err)
		names := map[*ast.Ident]bool{}
		for _, d := range tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				names[fn.Name] = true
				if fn.Name.IsExported() && (fn.Recv == nil || !slices.Contains(called, fn.Name.Name)) {
					declared[fn.Name.Name] = f.name
				}
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !names[id] {
				named[id.Name] = true
			}
			return true
		})
	}
	var found []string
	for name, file := range declared {
		if !named[name] {
			found = append(found, file+": "+name)
		}
	}
	slices.Sort(found)
	return found
}
