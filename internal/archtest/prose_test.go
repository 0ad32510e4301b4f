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
	joiners = regexp.MustCompile(`\b(and|or|of|at|by|more|ms|ports?)\b`)
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
func f() {
	by := "another unit"
	use(finding.Args{Unit: by})
	by = "this unit"
}
`)}
	assert.Equal(t, []string{
		"no such file", "the unit %s", "is down", "it is gone", "stop the server", "stop it",
		"another unit",
	}, proseIn(f.parse(t)))
}

// proseIn returns the texts for people that a file gives to package finding, also by a variable of the same function.
func proseIn(file *ast.File) (all []string) {
	var taken []token.Pos
	for _, declaration := range file.Decls {
		set := assigned(declaration)
		var read func(ast.Node) bool
		read = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				return packageOf(n.Fun) != "command" // a command for typing
			case *ast.Ident:
				for _, value := range set[n.Name] {
					if value.End() < n.Pos() { // it may be assigned again later
						ast.Inspect(value, read)
					}
				}
			case *ast.BasicLit:
				value, err := strconv.Unquote(n.Value)
				if slices.Contains(taken, n.Pos()) || err != nil || n.Kind != token.STRING {
					return true
				}
				taken = append(taken, n.Pos())
				if prose.MatchString(joiners.ReplaceAllString(value, "")) {
					all = append(all, value)
				}
			}
			return true
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			if forFinding(n) {
				ast.Inspect(n, read)
			}
			return true
		})
	}
	return all
}

// assigned returns the values that a declaration assigns to its variables, by their names.
func assigned(declaration ast.Decl) map[string][]ast.Expr {
	values := map[string][]ast.Expr{}
	ast.Inspect(declaration, func(n ast.Node) bool {
		if a, is := n.(*ast.AssignStmt); is && len(a.Lhs) == len(a.Rhs) {
			for i, to := range a.Lhs {
				if name, is := to.(*ast.Ident); is {
					values[name.Name] = append(values[name.Name], a.Rhs[i])
				}
			}
		}
		return true
	})
	return values
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
