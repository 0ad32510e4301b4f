package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Code that changes the membership doesn't observe by itself: it gets its input. And only the one protocol,
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

// bypasses lists where a file names the observing type, and where it calls what only the protocol may.
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

// nameOf is the name of a function, or of the first type of a declaration.
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

// wallFile is the one file of the agent that reads the wall clock.
const wallFile = "clock.go"

// The agent decides by a clock that never jumps and is passed to it. (Package lease is pure and reads none.) The wall
// clock is for people and for sockets, through one function.
func TestWallClock_one_file_of_agent(t *testing.T) {
	found := false
	for _, p := range list(t) {
		if p.local() != "agent" {
			continue
		}
		for _, f := range code(t, p) {
			reads := wallReads(t, f)
			if path.Base(f.name) == wallFile {
				found = len(reads) == 1
				continue
			}
			assert.Empty(t, reads)
		}
	}
	require.True(t, found, "%s reads it once", wallFile)
}

func TestWallClock_reads_are_found(t *testing.T) {
	const text = `package agent
func a() { _ = time.Now(); x := service{Now: time.Now}; <-time.After(time.Second) }
func b() { _ = time.Since(t) + time.Until(t) }
`
	assert.Len(t, wallReads(t, source{name: "a.go", text: []byte(text)}), 4)
}

// wallReads lists where a file reads the wall clock.
func wallReads(t *testing.T, f source) (all []string) {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.name, f.text, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := s.X.(*ast.Ident); ok && from.Name == "time" && (s.Sel.Name == "Now" || s.Sel.Name == "Since" || s.Sel.Name == "Until") {
				all = append(all, set.Position(n.Pos()).String()+": time."+s.Sel.Name)
			}
		}
		return true
	})
	return all
}

func TestPrinting_pure_packages_print_nothing(t *testing.T) {
	for _, p := range list(t) {
		if !p.isProduct() || p.local() == "" {
			continue
		}
		oneLine := p.local() == "status" || isPure(p.ImportPath) && !slices.Contains(lined, p.local())
		for _, f := range code(t, p) {
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
	ast.Inspect(f.parse(t), func(n ast.Node) bool {
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
