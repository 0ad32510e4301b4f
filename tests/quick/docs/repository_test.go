// Package docs_test compares the documents with the code: everything to which they link, and everything that they
// tell people to type, must exist.
package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository.
const root = "../../.."

// repository has the things that the documents can name.
type repository struct {
	// files are all files and folders, by their path from the root.
	files map[string]bool
	// documents are the Markdown files, by path.
	documents map[string]document
	// targets are the Makefile's targets, tests the names of test functions, rules the rules to which comments refer,
	// such as R9.
	targets, tests, rules map[string]bool
	// params are the parameters of each action.
	params map[string]map[string]bool
}

var (
	target   = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	ruleOf   = regexp.MustCompile(`\brules? (R\d+)\b`)
)

// readRepository reads the repository once.
func readRepository(t *testing.T) repository {
	t.Helper()
	r, err := readOnce()
	require.NoError(t, err)
	return r
}

var readOnce = sync.OnceValues(func() (repository, error) {
	r := repository{
		files: map[string]bool{}, documents: map[string]document{},
		targets: map[string]bool{}, tests: map[string]bool{}, rules: map[string]bool{}, params: map[string]map[string]bool{},
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if entry.IsDir() && (name == ".git" || name == "build") {
			return fs.SkipDir
		}
		r.files[name] = true
		if extension := filepath.Ext(name); entry.IsDir() || extension != ".md" && extension != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			r.add(name, string(text))
		}
		return err
	})
	if err != nil {
		return r, err
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return r, err
	}
	for _, m := range target.FindAllStringSubmatch(string(makefile), -1) {
		r.targets[m[1]] = true
	}
	actions, err := os.Open(filepath.Join(root, "actions.yaml"))
	if err != nil {
		return r, err
	}
	defer actions.Close()
	read, err := charm.ReadActionsYaml("ovn-central", actions)
	if err != nil {
		return r, err
	}
	for name, spec := range read.ActionSpecs {
		r.params[name] = map[string]bool{}
		properties, _ := spec.Params["properties"].(map[string]any)
		for key := range properties {
			r.params[name][key] = true
		}
	}
	return r, nil
})

// add adds a document or a Go file.
func (r repository) add(name, text string) {
	if filepath.Ext(name) == ".md" {
		r.documents[name] = document{path: name, text: text}
		return
	}
	for _, m := range ruleOf.FindAllStringSubmatch(text, -1) {
		r.rules[m[1]] = true
	}
	if strings.HasSuffix(name, "_test.go") {
		for _, m := range testFunc.FindAllStringSubmatch(text, -1) {
			r.tests[m[1]] = true
		}
	}
}

var (
	// tier is a target of the Makefile that runs tests, with its recipe.
	tier = regexp.MustCompile(`(?m)^(?:test|test-integration|test-system):.*\n(?:\t.*\n)+`)
	// packages is a pattern of packages below tests/ in a recipe.
	packages = regexp.MustCompile(`\./(tests/[\w./-]+)/\.\.\.`)
)

// inOtherModule reports whether a directory, or one above it, has a go.mod, apart from the root.
func inOtherModule(files map[string]bool, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if files[dir+"/go.mod"] {
			return true
		}
	}
	return false
}

// A test belongs to exactly one tier, by its directory.
func TestTests_are_in_one_tier_each(t *testing.T) {
	tests := map[string]int{} // by the directory in a recipe
	for _, recipe := range tier.FindAllString(read(t, "Makefile"), -1) {
		for _, m := range packages.FindAllStringSubmatch(recipe, -1) {
			tests[m[1]] = 0
		}
	}
	require.Greater(t, len(tests), 3)
	files := readRepository(t).files
	for name := range files {
		dir := path.Dir(name)
		if !strings.HasPrefix(name, "tests/") || !strings.HasSuffix(name, "_test.go") || inOtherModule(files, dir) {
			continue
		}
		var in []string
		for top := range tests {
			if strings.HasPrefix(name, top+"/") {
				in = append(in, top)
				tests[top]++
			}
		}
		assert.Len(t, in, 1, name)
	}
	for top, n := range tests {
		assert.Positive(t, n, "%s has no test", top)
	}
}
