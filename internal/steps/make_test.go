package steps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Each step that package plan can choose has a function.
func TestFunctions(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../plan/step.go", nil, 0)
	require.NoError(t, err)
	kinds := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is {
			return true
		}
		kind, named := spec.Type.(*ast.Ident)
		if !named || kind.Name != "Kind" {
			return true
		}
		for i := range spec.Names {
			value := spec.Values[i].(*ast.BasicLit).Value
			kinds++
			assert.Contains(t, functions, plan.Kind(value[1:len(value)-1]), spec.Names[i].Name)
		}
		return true
	})
	assert.Equal(t, len(functions), kinds)
}
