package remedies

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"io/fs"
	"maps"
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

// R4: every remedy works as printed, for the codes that appear in the lab.
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

// Each code is in one list: it has scenarios here, or another test types its command, or its command is parsed, or it
// has no command, or no remedy at all.
func TestRemedies_every_code_is_in_one_list(t *testing.T) {
	t.Parallel()
	ways := map[finding.Code]int{}
	count := func(codes []finding.Code) {
		for _, code := range codes {
			ways[code]++
		}
	}
	count(slices.Collect(maps.Keys(scenarios)))
	for _, codes := range typedElsewhere {
		count(codes)
	}
	for _, codes := range parsed {
		count(codes)
	}
	for _, codes := range withoutCommand {
		count(codes)
	}
	count(withoutRemedy)
	for _, e := range finding.Catalogue() {
		assert.Equal(t, 1, ways[e.Code], e.Code)
		delete(ways, e.Code)
	}
	assert.Empty(t, ways, "codes that are not in the catalogue")
}

var (
	// types matches a call that types a printed command.
	types = regexp.MustCompile(`\b(play|follow|do|Type|printed|retyped)\(`)
	// parses matches a call that reads the commands of remedies as they are printed.
	parses = regexp.MustCompile(`\bfindingtest\.(Brief|Briefs|All|Typed|MustType)\(`)
)

// Each test in typedElsewhere types a command, on real servers or databases.
func TestRemedies_typed_elsewhere(t *testing.T) {
	t.Parallel()
	tests := testsOfTheProject(t)
	for name := range typedElsewhere {
		assert.True(t, slices.ContainsFunc(tests[name], func(f testFunction) bool {
			return strings.HasPrefix(f.dir, "tests/integration/") && types.MatchString(f.body)
		}), "%s types no printed command", name)
	}
}

// Each test in parsed is in a package that parses printed commands and names the code.
func TestRemedies_parsed(t *testing.T) {
	t.Parallel()
	tests := testsOfTheProject(t)
	names := constants(t)
	for name, codes := range parsed {
		for _, code := range codes {
			assert.True(t, slices.ContainsFunc(tests[name], func(f testFunction) bool {
				text := textsOf(t, f.dir)
				return parses.MatchString(text) && (strings.Contains(text, "finding."+names[code]) ||
					strings.Contains(text, string(code)))
			}), "%s: the package of %s does not parse it", code, name)
		}
	}
}

// textsOf returns the tests and their data in a directory.
func textsOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*_test.go", "testdata/*.txt"} {
		paths, err := filepath.Glob(filepath.Join(root, dir, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all.Write(text)
		}
	}
	return all.String()
}

const root = "../../.."

// constant matches the declaration of a code.
var constant = regexp.MustCompile(`(?m)^\t(\w+)\s+Code\s+= "(\w+)"`)

// constants returns the name of each code's constant.
func constants(t *testing.T) map[finding.Code]string {
	t.Helper()
	names := map[finding.Code]string{}
	paths, err := filepath.Glob(root + "/internal/finding/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, found := range constant.FindAllStringSubmatch(string(text), -1) {
			names[finding.Code(found[2])] = found[1]
		}
	}
	require.Greater(t, len(names), 200)
	return names
}

// A call that makes a finding with a code that has no command, or no remedy at all, gives it none.
func TestRemedies_codes_without_command_have_none(t *testing.T) {
	t.Parallel()
	commandless, none := map[string]bool{}, map[string]bool{}
	for code, name := range constants(t) {
		none[name] = slices.Contains(withoutRemedy, code)
		for _, codes := range withoutCommand {
			commandless[name] = commandless[name] || slices.Contains(codes, code)
		}
	}
	var files []*ast.File
	err := filepath.WalkDir(root+"/internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	require.NoError(t, err)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			at := slices.IndexFunc(call.Args, func(arg ast.Expr) bool {
				name, _ := strings.CutPrefix(gotypes.ExprString(arg), "finding.")
				return none[name] || commandless[name]
			})
			if at < 0 {
				return true
			}
			name := strings.TrimPrefix(gotypes.ExprString(call.Args[at]), "finding.")
			assert.False(t, call.Ellipsis.IsValid(), "%s may have a remedy", name)
			forbidden := `^(finding\.(Do|If)|s\.way|[a-z]+\.moveTo)\(`
			if none[name] {
				forbidden = `^(finding\.(Do|If|ByHand)|s\.way|[a-z]+\.moveTo)\(`
			}
			for _, arg := range call.Args[at+1:] {
				assert.NotRegexp(t, forbidden, gotypes.ExprString(arg), name)
			}
			return true
		})
	}
}

// testFunction is a test: its directory below the project's, and its text.
type testFunction struct{ dir, body string }

// function matches a test and its text.
var function = regexp.MustCompile(`(?ms)^func (Test\w+)\(.*?^}$`)

// testsOfTheProject returns all tests by their names. Two packages may have tests of one name.
func testsOfTheProject(t *testing.T) map[string][]testFunction {
	t.Helper()
	all := map[string][]testFunction{}
	for _, dir := range []string{"internal", "tests"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			below, outside := filepath.Rel(root, filepath.Dir(path))
			for _, found := range function.FindAllStringSubmatch(string(text), -1) {
				all[found[1]] = append(all[found[1]], testFunction{below, found[0]})
			}
			return errors.Join(err, outside)
		})
		require.NoError(t, err)
	}
	return all
}
