package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the module's directory.
const root = "../.."

// listTimeout limits `go list`, which may first have to download modules.
const listTimeout = 5 * time.Minute

func TestImports_run_downwards(t *testing.T) {
	assert.Empty(t, checkImports(list(t)))
}

func TestProgram_links_only_needed_modules(t *testing.T) {
	out := goList(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/...")
	paths := strings.Fields(string(out))
	slices.Sort(paths)
	assert.Equal(t, linked, slices.Compact(paths))
}

// list returns every package of the module, listed once.
func list(t *testing.T) []pkg {
	t.Helper()
	once.Do(func() { packages = listed(t) })
	require.NotEmpty(t, packages)
	return packages
}

var (
	once     sync.Once
	packages []pkg
)

func listed(t *testing.T) []pkg {
	t.Helper()
	out := goList(t, "-json=ImportPath,Name,Dir,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	var pkgs []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// goList returns the output of `go list` in the module's directory.
func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), listTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-tags=programs"}, args...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return out
}

// sources reads the files of a package.
func sources(t *testing.T, p pkg) []source {
	t.Helper()
	tests := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
	var files []source
	for _, name := range slices.Concat(p.GoFiles, tests) {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		files = append(files, source{
			name: p.ImportPath + "/" + name,
			text: text,
			test: slices.Contains(tests, name),
		})
	}
	return files
}

// code reads a product package's files, without tests. It returns nothing for other packages.
func code(t *testing.T, p pkg) []source {
	t.Helper()
	if !p.isProduct() {
		return nil
	}
	return slices.DeleteFunc(sources(t, p), func(f source) bool { return f.test })
}

func (f source) parse(t *testing.T) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), f.name, f.text, parser.SkipObjectResolution)
	require.NoError(t, err)
	return tree
}
