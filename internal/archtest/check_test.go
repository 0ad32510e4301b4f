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

// pkg is a package as `go list -json` describes it.
type pkg struct {
	ImportPath   string
	Name         string
	Dir          string
	Imports      []string // of the files that aren't tests
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
}

// local is the path below internal/, or "" for other packages.
func (p pkg) local() string {
	return local(p.ImportPath)
}

func local(importPath string) string {
	rest, _ := strings.CutPrefix(importPath, module+"/internal/")
	if rest == importPath {
		return ""
	}
	return rest
}

// isProduct reports whether p's code is in the binary.
func (p pkg) isProduct() bool {
	if strings.HasPrefix(p.ImportPath, module+"/cmd/") {
		return true
	}
	return p.local() != "" && p.local() != "archtest" && !isSupport(p.ImportPath)
}

// isSupport reports whether a package of this project is for tests only.
func isSupport(importPath string) bool {
	return local(importPath) != "" && strings.HasSuffix(importPath, "test")
}

// checkImports returns what is wrong with the imports of pkgs, a line each.
func checkImports(pkgs []pkg) []string {
	var wrong []string
	for _, p := range pkgs {
		if !p.isProduct() {
			continue
		}
		if _, ok := layerOf(p.ImportPath); !ok && !isPure(p.ImportPath) {
			wrong = append(wrong, fmt.Sprintf("%s has no layer in rules.go", p.ImportPath))
			continue
		}
		for _, imported := range p.Imports {
			if reason := refuse(p, imported); reason != "" {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.ImportPath, imported, reason))
			}
		}
	}
	return wrong
}

// refuse is why p may not import a package, or "".
func refuse(p pkg, imported string) string {
	if owner, ok := ownersOf(imported); ok && !slices.Contains(owner, p.local()) {
		return fmt.Sprintf("only %v may", owner)
	}
	if isSupport(imported) {
		return "it is for tests"
	}
	if isPure(p.ImportPath) {
		if under(imported, "encoding") && !slices.Contains(formats, p.local()) {
			return "what it decides is put in a form above it"
		}
		return refusePure(imported)
	}
	if isPure(imported) || local(imported) == "" {
		return ""
	}
	if only, ok := narrow[p.local()]; ok && !slices.Contains(only, local(imported)) {
		return fmt.Sprintf("it may import %v", only)
	}
	from, _ := layerOf(p.ImportPath)
	to, ok := layerOf(imported)
	if ok && to <= from {
		return "imports run downwards only"
	}
	return ""
}

func refusePure(imported string) string {
	if isPure(imported) {
		return ""
	}
	if isStandard(imported) && !slices.ContainsFunc(outside, func(path string) bool { return under(imported, path) }) {
		return ""
	}
	return "a pure package imports no such thing"
}

// layerOf is the place of a package in layers, 0 for cmd/.
func layerOf(importPath string) (int, bool) {
	if strings.HasPrefix(importPath, module+"/cmd/") {
		return 0, true
	}
	for i, layer := range Layers {
		if slices.Contains(layer, local(importPath)) {
			return i + 1, true
		}
	}
	return 0, false
}

func isPure(importPath string) bool {
	return slices.Contains(Pure, local(importPath))
}

// isStandard reports whether a path is of the standard library: its first element has no dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

func ownersOf(imported string) (owner []string, ok bool) {
	longest := -1
	for path, names := range owners {
		if under(imported, path) && len(path) > longest {
			owner, ok, longest = names, true, len(path)
		}
	}
	return owner, ok
}

// under reports whether importPath is path or below it.
func under(importPath, path string) bool {
	return importPath == path || strings.HasPrefix(importPath, path+"/")
}

// source is one Go file.
type source struct {
	name string // from the module's root
	text []byte
	test bool
	pure bool // in a package of pure
}

// checkPackage returns what is wrong with the form of a package, a line each.
func checkPackage(p pkg, files []source) ([]string, error) {
	var wrong []string
	if slices.Contains(emptyNames, p.Name) {
		wrong = append(wrong, fmt.Sprintf("%s: the name says nothing", p.ImportPath))
	}
	for _, f := range files {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, f.name, f.text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
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
	return wrong, nil
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
