package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// source is one Go file.
type source struct {
	name string // from the module's root
	text []byte
	test bool
	pure bool // in a package of pure
}

// checkPackage returns what is wrong with the form of a package, a line each. A package of tests only may have its
// comment in a test.
func checkPackage(p pkg, files []source) ([]string, error) {
	var wrong []string
	if slices.Contains(emptyNames, p.Name) {
		wrong = append(wrong, fmt.Sprintf("%s: the name says nothing", p.ImportPath))
	}
	commented := false
	for _, f := range files {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, f.name, f.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if (!f.test || len(p.GoFiles) == 0) && isPackageComment(p, tree.Doc) {
			commented = true
		}
		if lines := bytes.Count(f.text, []byte("\n")); !f.test && lines > maxLines {
			wrong = append(wrong, fmt.Sprintf("%s: %d lines, more than %d", f.name, lines, maxLines))
		}
		for _, d := range tree.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || f.test || fn.Body == nil || !p.isProduct() {
				continue
			}
			if lines := set.Position(fn.Body.Rbrace).Line - set.Position(fn.Body.Lbrace).Line - 1; lines > maxFunction {
				wrong = append(wrong, fmt.Sprintf("%s: %s has %d lines, more than %d", f.name, fn.Name.Name, lines, maxFunction))
			}
		}
		if f.pure && !f.test {
			wrong = append(wrong, clockCalls(set, tree)...)
		}
	}
	if !commented {
		wrong = append(wrong, fmt.Sprintf("%s: no file has a package comment", p.ImportPath))
	}
	return wrong, nil
}

// isPackageComment reports whether doc has the form that go doc expects.
func isPackageComment(p pkg, doc *ast.CommentGroup) bool {
	kind := "Package "
	if p.Name == "main" {
		kind = "Command "
	}
	return doc != nil && strings.HasPrefix(doc.Text(), kind)
}

// clockCalls lists where a file reads the clock or waits for it.
func clockCalls(set *token.FileSet, tree *ast.File) []string {
	var wrong []string
	ast.Inspect(tree, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := selector.X.(*ast.Ident)
		if ok && from.Name == "time" && slices.Contains(clock, selector.Sel.Name) {
			wrong = append(wrong, fmt.Sprintf("%s: a pure package is given the time, it doesn't use time.%s",
				set.Position(n.Pos()), selector.Sel.Name))
		}
		return true
	})
	return wrong
}
