package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// pkg is a package as `go list -json` describes it.
type pkg struct {
	ImportPath   string
	Name         string
	Dir          string
	Imports      []string // imports of the files that aren't tests
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
}

// local returns the path below internal/, or "" for other packages.
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

// checkImports returns the faults of the imports of pkgs, a line for each.
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

// refuse returns why p may not import a package of internal/, or "" if it may.
func refuse(p pkg, imported string) string {
	if isPure(imported) || local(imported) == "" {
		return ""
	}
	if isPure(p.ImportPath) {
		return "a pure package imports pure ones only"
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

// layerOf returns the place of a package in Layers, counted from 0 for cmd/.
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

// source is one Go file.
type source struct {
	name string // relative to the module's root
	text []byte
	test bool
}
