// Package docs_test holds the documents against the code: what they link to,
// and what they tell people to type, must be there.
package docs_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository.
const root = "../../.."

// repository is what the documents can speak of.
type repository struct {
	// files are all files and folders, by their path from the root.
	files map[string]bool
	// documents are the Markdown files, by path.
	documents map[string]document
	// targets are those of the Makefile; tests the names of test functions;
	// rules those that comments refer to, as R9.
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

// readRepository is read once.
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

// add takes in a document or a Go file.
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

// tiers are the targets of the Makefile that run tests.
var tiers = []string{"test", "test-integration", "test-system"}

// packages is a pattern of packages below tests/, as the recipe of a target has it.
var packages = regexp.MustCompile(`\./(tests/[\w./-]+)/\.\.\.`)

// tierRoots are the directories below tests/ that the recipes of the tiers name.
func tierRoots(makefile string) (roots []string) {
	inTier := false
	for line := range strings.Lines(makefile) {
		if strings.HasPrefix(line, "\t") {
			if inTier {
				for _, m := range packages.FindAllStringSubmatch(line, -1) {
					roots = append(roots, m[1])
				}
			}
			continue
		}
		name, _, _ := strings.Cut(line, ":")
		inTier = slices.Contains(tiers, name)
	}
	return roots
}

// testDirectories are the directories below tests/ that have tests of the main module.
func testDirectories(files map[string]bool) []string {
	all := map[string]bool{}
	for name := range files {
		if dir := path.Dir(name); strings.HasPrefix(name, "tests/") && strings.HasSuffix(name, "_test.go") && !inOtherModule(files, dir) {
			all[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// inOtherModule reports whether a directory, or one above it, has a go.mod; that of the root is not meant.
func inOtherModule(files map[string]bool, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if files[dir+"/go.mod"] {
			return true
		}
	}
	return false
}

// tiersOf are the roots that a directory is below.
func tiersOf(dir string, roots []string) (all []string) {
	for _, root := range roots {
		if dir == root || strings.HasPrefix(dir, root+"/") {
			all = append(all, root)
		}
	}
	return all
}

// A test belongs to a tier by its directory: no test is in none, or in two.
func TestEveryTestIsInOneTier(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	roots := tierRoots(string(makefile))
	require.NotEmpty(t, roots)
	dirs := testDirectories(readRepository(t).files)
	require.Greater(t, len(dirs), 20)
	for _, dir := range dirs {
		assert.Len(t, tiersOf(dir, roots), 1, "%s must be below exactly one of the directories that the recipes of %v name", dir, tiers)
	}
	for _, root := range roots {
		assert.True(t, slices.ContainsFunc(dirs, func(dir string) bool { return len(tiersOf(dir, []string{root})) > 0 }), "%s has no test", root)
	}
}
