package archtest

import (
	"go/ast"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Code that changes the membership doesn't observe by itself: it gets its observations. Only the change protocol,
// change.carryOut, takes locks.
func TestProtocol_is_not_bypassed(t *testing.T) {
	found := false
	for _, p := range list(t) {
		if p.local() == "membership" {
			found = true
			for _, f := range code(t, p) {
				assert.Empty(t, bypasses(t, f))
			}
		}
	}
	require.True(t, found)
}

func TestProtocol_bypass_is_found(t *testing.T) {
	const text = `package membership
type C struct { *observe.Observer }
func (o op) takeLock() { o.lock(); s.lock() }
func (o op) hurry() { o.lock(); o.takeLock() }
func (c change) carryOut() { o.takeLock(); o.act() }
`
	assert.Equal(t, []string{"observe.Observer in C", "lock in hurry", "takeLock in hurry"}, bypasses(t, source{name: "a.go", text: []byte(text)}))
}

// bypasses lists the places where a file names the observing type, or calls what only the protocol may call.
func bypasses(t *testing.T, f source) (found []string) {
	t.Helper()
	callers := map[string]string{"lock": "takeLock", "takeLock": "carryOut", "act": "carryOut"}
	for _, d := range f.parse(t).Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && of.Name == "observe" && n.Sel.Name == "Observer" {
					found = append(found, "observe.Observer in "+nameOf(d))
				}
			case *ast.CallExpr:
				if called, ok := n.Fun.(*ast.SelectorExpr); ok {
					if only, ok := callers[called.Sel.Name]; ok && only != nameOf(d) {
						found = append(found, called.Sel.Name+" in "+nameOf(d))
					}
				}
			}
			return true
		})
	}
	return found
}

// nameOf returns the name of a function, or of the first type of a declaration.
func nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
			return s.Name.Name
		}
	}
	return ""
}
