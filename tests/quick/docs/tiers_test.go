package docs_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

func TestTiersAreReadFromTheMakefile(t *testing.T) {
	roots := tierRoots("test: x ## ./tests/no/...\n\t$(call go,./tests/a/...,-x)\n\ntest-integration: export A = 1\ntest-integration: x\n" +
		"\t$(call go,$(RACE) ./tests/b/... ./tests/c/d/...,-y)\nbench:\n\tgo test ./tests/no/...\n")
	assert.Equal(t, []string{"tests/a", "tests/b", "tests/c/d"}, roots)
	dirs := testDirectories(map[string]bool{
		"go.mod": true, "tests/a/x_test.go": true, "tests/ab/x_test.go": true, "tests/a/c/x_test.go": true, "tests/a/c/y_test.go": true,
		"tests/m/go.mod": true, "tests/m/n/x_test.go": true, "internal/x_test.go": true, "tests/a/x.go": true,
	})
	assert.Equal(t, []string{"tests/a", "tests/a/c", "tests/ab"}, dirs)
	assert.Empty(t, tiersOf("tests/ab", roots))
	assert.Equal(t, []string{"tests/c/d"}, tiersOf("tests/c/d/e", roots))
}
