package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// prose matches a word with a space beside it, as in a text for people: names, keys and paths have no spaces. joiners
// are words between two names.
var (
	prose   = regexp.MustCompile(`[a-z]{2,}[,;:.]? | [a-z]{2,}`)
	joiners = regexp.MustCompile(`\b(and|or|of|at|ports?)\b`)
)

// Only package finding writes texts about problems. Other packages fill in the arguments of findings, reasons and
// statements: names, numbers, and by finding.Said and finding.Quote the texts of other programs and of errors.
func TestFindings_take_no_prose(t *testing.T) {
	for _, p := range list(t) {
		if !p.isProduct() || p.local() == "finding" {
			continue
		}
		for _, f := range code(t, p) {
			assert.Empty(t, proseIn(f.parse(t)), f.name)
		}
	}
}

func TestProse_is_found(t *testing.T) {
	f := source{name: "x.go", text: []byte(`package x
var _ = finding.Args{Value: "no such file", Reasons: []finding.Reason{{Name: fmt.Sprintf("the unit %s", u)}}}
var _ = []finding.Reason{finding.Quote("is down" + why), {Code: "LEFT", Value: a + " and " + b}}
var _ = finding.About(code, name, finding.Args{Detail: finding.Said("it is gone"), Path: "/var/lib/ovn"})
var _ = finding.ByHand("stop the server")
var _ = finding.Deed("stop it")
var _ = finding.Do(command.OnMachine(unit, "stop the server"))
`)}
	assert.Equal(t, []string{
		"no such file", "the unit %s", "is down", "it is gone", "stop the server", "stop it",
	}, proseIn(f.parse(t)))
}

// proseIn returns the texts for people that a file gives to package finding.
func proseIn(file *ast.File) (all []string) {
	var taken []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		if !forFinding(n) {
			return true
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && packageOf(call.Fun) == "command" {
				return false // a command for typing
			}
			text, is := n.(*ast.BasicLit)
			if !is || text.Kind != token.STRING || slices.Contains(taken, text.Pos()) {
				return true
			}
			taken = append(taken, text.Pos())
			if value, err := strconv.Unquote(text.Value); err == nil && prose.MatchString(joiners.ReplaceAllString(value, "")) {
				all = append(all, value)
			}
			return true
		})
		return true
	})
	return all
}

// forFinding reports whether a node is a call of package finding, or a value of one of its types.
func forFinding(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return packageOf(n.Fun) == "finding"
	case *ast.CompositeLit:
		of := n.Type
		if list, is := of.(*ast.ArrayType); is {
			of = list.Elt
		}
		return packageOf(of) == "finding"
	}
	return false
}

// packageOf returns the package of a selector. It is empty for any other expression.
func packageOf(x ast.Expr) string {
	if selector, is := x.(*ast.SelectorExpr); is {
		if name, is := selector.X.(*ast.Ident); is {
			return name.Name
		}
	}
	return ""
}
