package remedies

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// scenario describes how a finding appears in the lab, and how it ends.
type scenario struct {
	// name distinguishes the scenarios of one code.
	name string
	// units is the number of deployed units; 0 means 3.
	units   int
	options lab.Options
	// deploy replaces the usual deployment.
	deploy func(t *testing.T, s scenario) *labtest.Model
	// arrange makes the finding appear, and sets the observed unit.
	arrange func(w *world)
	// remedy is the index of the remedy to carry out.
	remedy int
	// next are the findings that appear afterwards, one after the other, each with its first remedy.
	next []finding.Code
	// after checks further conditions.
	after func(w *world)
}

// play lets the finding appear, carries out its remedy as printed, and requires that it ends.
func (s scenario) play(t *testing.T, code finding.Code) {
	t.Helper()
	if s.units == 0 {
		s.units = 3
	}
	if s.deploy == nil {
		s.deploy = func(t *testing.T, s scenario) *labtest.Model {
			t.Helper()
			return labtest.DeployWith(t, s.units, s.options)
		}
	}
	w := &world{Model: s.deploy(t, s)}
	w.on = w.Leader()
	s.arrange(w)
	ended, remedy := []finding.Code{}, s.remedy
	for _, code := range append([]finding.Code{code}, s.next...) {
		for shown, subjects := w.appears(code), []string{}; ; {
			require.Greater(t, len(shown.Remedies), remedy, "%+v", shown)
			w.do(shown.Remedies[remedy])
			subjects = append(subjects, shown.Subject)
			all := w.all()
			i := slices.IndexFunc(all, func(d present.Document) bool {
				return d.Code == string(code) && !slices.Contains(subjects, d.Subject)
			})
			if i < 0 {
				break
			}
			shown = all[i]
		}
		ended, remedy = append(ended, code), 0
	}
	w.ends(ended...)
	if s.after != nil {
		s.after(w)
	}
}

// R4: every remedy works as printed. Each code is shown once: on the lab, or by another test, or it has no remedy.
func TestRemedies_work_as_printed(t *testing.T) {
	t.Parallel()
	for _, e := range finding.Catalogue() {
		for _, s := range scenarios[e.Code] {
			name := string(e.Code)
			if s.name != "" {
				name += "/" + s.name
			}
			t.Run(name, func(t *testing.T) { s.play(t, e.Code) }) //nolint:paralleltest // deploying makes it parallel
		}
	}
}

func TestRemedies_every_code_has_scenario(t *testing.T) {
	t.Parallel()
	ways := map[finding.Code]int{}
	for code := range scenarios {
		ways[code]++
	}
	tests := testsOfTheProject(t)
	for test, codes := range elsewhere {
		assert.True(t, tests[test], "there is no %s", test)
		for _, code := range codes {
			ways[code]++
		}
	}
	for _, code := range withoutRemedy {
		ways[code]++
	}
	for _, e := range finding.Catalogue() {
		assert.Equal(t, 1, ways[e.Code], e.Code)
		delete(ways, e.Code)
	}
	assert.Empty(t, ways, "codes that are not in the catalogue")
}

// constant matches the declaration of a code.
var constant = regexp.MustCompile(`(?m)^\t(\w+)\s+Code\s+= "(\w+)"`)

// A call that makes a finding with such a code gives it no remedy.
func TestRemedies_codes_without_scenario_have_none(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	var files []*ast.File
	err := filepath.WalkDir("../../../internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, found := range constant.FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = slices.Contains(withoutRemedy, finding.Code(found[2]))
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(names), 200)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) == 0 {
				return true
			}
			name, found := strings.CutPrefix(types.ExprString(call.Args[0]), "finding.")
			if found && names[name] {
				assert.False(t, call.Ellipsis.IsValid(), "%s may have a remedy, and has no scenario", name)
				for _, arg := range call.Args[1:] {
					assert.NotRegexp(t, `^finding\.(Do|If|ByHand)\(`, types.ExprString(arg), "%s has a remedy, and no scenario", name)
				}
			}
			return true
		})
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsOfTheProject returns the names of all tests.
func testsOfTheProject(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, dir := range []string{"internal", "tests"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range testFunction.FindAllStringSubmatch(string(text), -1) {
				all[found[1]] = true
			}
			return err
		})
		require.NoError(t, err)
	}
	return all
}
