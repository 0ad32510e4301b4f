package archtest

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// called are methods that libraries call through their own interfaces.
var called = strings.Fields("Accept Close Collect Describe Enabled Error Format Handle Is LogValue MarshalJSON MarshalText Read " +
	"ServeHTTP Set String Type Unwrap UnmarshalJSON UnmarshalText WithAttrs WithGroup Write CloneModel CloneModelInto EqualsModel")

// A function that only tests call is not part of the program, and a function that no other package calls should not
// be exported. The linker's view (deadcode) shows neither, since reflection may reach methods.
func TestExports_are_used_by_other_packages(t *testing.T) {
	compiled := map[string]string{}
	for line := range strings.Lines(string(goList(t, "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./cmd/...", "./internal/..."))) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		compiled[path] = file
	}
	c := newCalls()
	load := importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	for _, p := range list(t) {
		var product []*ast.File
		for _, f := range sources(t, p) {
			if p.isProduct() && !f.test {
				product = append(product, c.parse(t, f.name, f.text))
			} else if !p.isProduct() || slices.Contains(p.XTestGoFiles, filepath.Base(f.name)) {
				c.parse(t, "", f.text)
			}
		}
		c.check(t, p.ImportPath, product, load)
	}
	assert.Empty(t, c.wrong())
	for path, uses := range c.files {
		assert.LessOrEqual(t, len(cycle(uses)), maxCycle, "%s: files that reach each other: %v", path, cycle(uses))
	}
}

// maxCycle is the largest permitted number of files of a package that reach each other by what they use.
const maxCycle = 10

// cycle returns the largest set of files that reach each other, sorted. uses has the files that each file uses.
func cycle(uses map[string]map[string]bool) (most []string) {
	reached := map[string]map[string]bool{}
	for file := range uses {
		seen := map[string]bool{}
		for next := []string{file}; len(next) > 0; {
			for used := range uses[next[0]] {
				if !seen[used] {
					seen[used], next = true, append(next, used)
				}
			}
			next = next[1:]
		}
		reached[file] = seen
	}
	for file, seen := range reached {
		var all []string
		for other := range seen {
			if reached[other][file] {
				all = append(all, other)
			}
		}
		if len(all) > len(most) {
			most = all
		}
	}
	slices.Sort(most)
	return most
}

func TestCycle_of_files(t *testing.T) {
	use := func(files ...string) map[string]bool {
		all := map[string]bool{}
		for _, f := range files {
			all[f] = true
		}
		return all
	}
	assert.Equal(t, []string{"a", "b", "c"}, cycle(map[string]map[string]bool{
		"a": use("b", "d"), "b": use("c"), "c": use("a"), "d": use("e"), "f": use("a"),
	}))
	assert.Empty(t, cycle(map[string]map[string]bool{"a": use("b"), "b": use("c")}))
}

func TestExports_unused_is_found(t *testing.T) {
	c := newCalls()
	const text = "package a\ntype S struct{}\nfunc (S) Get() int { return Own() }\ntype T struct{ S }\nfunc (T) Get() int { return 0 }\n" +
		"type named interface{ Name() }\nfunc (T) Name() {}\nfunc Own() int { return Named() }\nfunc Named() int { return S{}.Get() }\n"
	c.check(t, module+"/internal/a", []*ast.File{c.parse(t, "a.go", []byte(text))}, nil)
	c.parse(t, "", []byte("package b\nvar _ = a.T{}.Get() + a.Named()\n"))
	assert.ElementsMatch(t, []string{"a.go: a.Own: no other package uses it", "a.go: a.T.Get: only tests use it"}, c.wrong())
}

// calls has the declaration of each exported function, and the names that are known to be used: by the product, by
// another package, by tests of others, and by interfaces.
type calls struct {
	set      *token.FileSet
	declared map[string]string
	known    map[string]bool
	// files has, for each package and file, the other files of the package that the file uses.
	files map[string]map[string]map[string]bool
}

func newCalls() calls {
	return calls{token.NewFileSet(), map[string]string{}, map[string]bool{}, map[string]map[string]map[string]bool{}}
}

// parse reads a file. name is empty if the file is not in the packages that it tests.
func (c calls) parse(t *testing.T, name string, text []byte) *ast.File {
	tree, err := parser.ParseFile(c.set, name, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && name == "" {
			c.known["test "+id.Name] = true
		}
		return true
	})
	return tree
}

func (c calls) check(t *testing.T, path string, files []*ast.File, load types.Importer) {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	p, err := (&types.Config{Importer: load}).Check(path, c.set, files, info)
	require.NoError(t, err)
	for id, o := range info.Defs {
		if key, of := function(o); of != nil && types.IsInterface(of) {
			c.known["interface "+id.Name] = true
		} else if key != "" && o.Exported() {
			c.declared[key] = c.set.Position(id.Pos()).Filename
		}
	}
	uses := map[string]map[string]bool{}
	c.files[path] = uses
	for id, o := range info.Uses {
		from, to := c.file(id.Pos()), c.file(o.Pos())
		if o.Pkg() == p && from != to {
			if uses[from] == nil {
				uses[from] = map[string]bool{}
			}
			uses[from][to] = true
		}
		if key, _ := function(o); key != "" {
			c.known["used "+key], c.known["elsewhere "+key] = true, c.known["elsewhere "+key] || o.Pkg() != p
		}
	}
}

func (c calls) file(at token.Pos) string { return filepath.Base(c.set.Position(at).Filename) }

// function returns the name of a function of internal/, and the type whose method it is.
func function(o types.Object) (key string, of types.Type) {
	f, is := o.(*types.Func)
	if !is || f.Pkg() == nil || local(f.Pkg().Path()) == "" {
		return "", nil
	}
	if r := f.Origin().Signature().Recv(); r != nil {
		of = r.Type()
		key = strings.TrimPrefix(types.TypeString(of, func(*types.Package) string { return "" }), "*") + "."
	}
	return local(f.Pkg().Path()) + "." + key + f.Name(), of
}

func (c calls) wrong() (all []string) {
	for key, file := range c.declared {
		switch name := key[strings.LastIndex(key, ".")+1:]; {
		case slices.Contains(called, name), c.known["interface "+name]:
		case !c.known["used "+key]:
			all = append(all, file+": "+key+": only tests use it")
		case !c.known["elsewhere "+key] && !c.known["test "+name]:
			all = append(all, file+": "+key+": no other package uses it")
		}
	}
	return all
}
