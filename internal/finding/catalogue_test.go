package finding_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// full returns a finding with every argument.
func full(e finding.Entry) finding.Finding {
	s := finding.Subject{Name: "ovn-central/0"}
	if e.Kind == finding.Database {
		s = finding.Subject{Databases: []ovndb.Database{ovndb.NB}}
	}
	return finding.New(e.Code, s, finding.Args{
		Unit: "ovn-central/1", Units: []string{"ovn-central/2", "ovn-central/3"}, Cluster: "aaaa", Other: "bbbb",
		Path: "/var/x.db", Service: "x.service",
		Address: "10.0.0.1", Version: "3.3", Value: "value", Count: 2, Total: 3, Duration: 4 * time.Second,
		Time: time.Unix(0, 0), Reasons: finding.Because(finding.Quoted),
	})
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	sentence := regexp.MustCompile(`^([A-Z]|docs/|` + "`" + `|systemd |ovsdb-server ).*\.$`)
	seen := map[finding.Code]bool{}
	for _, e := range finding.Catalogue() {
		assert.False(t, seen[e.Code], e.Code)
		seen[e.Code] = true
		assert.Regexp(t, form, string(e.Code))
		assert.NotEmpty(t, e.Line, e.Code)
		assert.LessOrEqual(t, utf8.RuneCountInString(e.Line), 80, e.Code)
		if e.Meaning != "" || e.Kind != finding.Node {
			assert.Regexp(t, sentence, e.Meaning, e.Code)
		}
		if e.Do != "" {
			assert.Regexp(t, sentence, e.Do, e.Code)
		}
		assert.Contains(t, []finding.Kind{
			finding.Database, finding.Member, finding.Unit, finding.Northd, finding.Option, finding.Application,
			finding.Node, finding.Gateway, finding.Chassis,
		}, e.Kind, e.Code)
		assert.NotRegexp(t, `[{}]`, full(e).Line(), e.Code)
		if e.Severity >= finding.Waiting {
			assert.False(t, e.Quiet, "%s: the unit's word needs a reason", e.Code)
		}
		assert.Equal(t, e, finding.Lookup(e.Code))
	}
	assert.Panics(t, func() { finding.Lookup("NONE") })
}

// words returns the names of package finding that Go files below the directories use, and the words of their strings.
// Of other files, such as golden files, it returns all words.
func words(t *testing.T, in func(path string) bool, dirs ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	add := func(text string) {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(text, -1) {
			found[word] = true
		}
	}
	visit := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !in(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || filepath.Ext(path) != ".go" {
			add(string(text))
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, is := n.X.(*ast.Ident); is && x.Name == "finding" {
					found[n.Sel.Name] = true
				}
			case *ast.BasicLit:
				add(n.Value)
			}
			return true
		})
		return err
	}
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, visit))
	}
	return found
}

// asserts reports whether a file may assert codes. Files that walk the catalogue may not: the tests of this package
// and of present, whose texts have all codes, and the lists of the tests of remedies.
func asserts(path string) bool {
	lists := []string{"others_test.go", "commandless_test.go"}
	switch dir := filepath.Base(filepath.Dir(path)); {
	case dir == "finding", strings.HasPrefix(path, "../present/"), slices.Contains(lists, filepath.Base(path)):
		return false
	case dir == "testdata":
		return slices.Contains([]string{".txt", ".json"}, filepath.Ext(path))
	}
	return strings.HasSuffix(path, "_test.go")
}

// A code, a condition or a deed that no other package uses describes nothing that an operator can meet. A code that no
// test asserts may be wrong unnoticed.
func TestCatalogue_names_used_and_codes_asserted(t *testing.T) {
	t.Parallel()
	asserted := words(t, asserts, "..", "../../tests")
	used := words(t, func(path string) bool {
		return filepath.Dir(path) != "../finding" && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
	}, "..")
	own, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var text strings.Builder
	for _, path := range own {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		text.Write(content)
	}
	var codes []finding.Code
	f := full(finding.Catalogue()[0])
	var reasons strings.Builder
	names := regexp.MustCompile(`(?m)^\t(\w+)\s+(Code|Condition|Deed|ReasonCode)\s+= "(.*)"`)
	for _, name := range names.FindAllStringSubmatch(text.String(), -1) {
		assert.True(t, used[name[1]], name[1])
		switch name[2] {
		case "Code":
			codes = append(codes, finding.Code(name[3]))
			assert.True(t, asserted[name[1]] || asserted[name[3]], "no test asserts %s", name[3])
		case "Condition":
			condition := f.Condition(finding.Remedy{When: finding.Condition(name[3])})
			assert.NotEmpty(t, condition, name[1])
			assert.NotRegexp(t, `[{}]`, condition, name[1])
		case "ReasonCode":
			fmt.Fprintf(&reasons, "%s: %s\n", name[3], finding.Reason{
				Code: finding.ReasonCode(name[3]), Name: "NAME", Value: "VALUE", Count: 2, Total: 3,
				Age: 4 * time.Second, Limit: time.Minute, Because: finding.Because("OTHER_REASON"),
			})
		case "Deed":
			assert.NotRegexp(t, `[{}]`, f.Deed(finding.ByHand(finding.Deed(name[3]))), name[1])
		}
	}
	var entries []finding.Code
	for _, e := range finding.Catalogue() {
		entries = append(entries, e.Code)
	}
	assert.ElementsMatch(t, codes, entries)
	goldentest.Equal(t, "reasons.txt", reasons.String())
}

func TestSort(t *testing.T) {
	t.Parallel()
	none := finding.Args{}
	nb, sb := finding.Of(finding.NoQuorum, ovndb.NB, none), finding.Of(finding.NoQuorum, ovndb.SB, none)
	other := finding.Of(finding.NoQuorum, ovndb.SB, finding.Quote("1 of 3").Args())
	one := finding.Of(finding.NoQuorum, ovndb.NB, finding.Quote("1 of 5").Args())
	paused, down := finding.New(finding.Paused, finding.Subject{}, none), finding.Of(finding.MemberDown, ovndb.NB, none)
	stale, worse := finding.Of(finding.StaleMember, ovndb.NB, none), down.As(finding.Error)

	both := nb
	both.Subject.Databases = ovndb.Databases()
	assert.Equal(t, []finding.Finding{both}, finding.Sort([]finding.Finding{nb, sb, nb}))
	assert.Equal(t, []ovndb.Database{ovndb.NB}, nb.Subject.Databases, "the finding itself is as it was")
	assert.Equal(t, []finding.Finding{nb, stale, down, paused}, finding.Sort([]finding.Finding{paused, down, stale, nb}))
	merged := finding.Sort([]finding.Finding{one, other, other})
	require.Len(t, merged, 1)
	assert.Equal(t, []string{"nb: 1 of 5", "sb: 1 of 3"}, merged[0].Details())
	assert.Equal(t, "nb, sb: no quorum (nb: 1 of 5; sb: 1 of 3)", merged[0].Message())
	assert.Equal(t, merged, finding.Sort(merged))
	assert.Equal(t, []finding.Finding{worse, paused}, finding.Sort([]finding.Finding{paused, worse}))
	waits, kick := finding.New(finding.NorthdNoneActive, finding.Subject{}, none), command.Command{Action: "kick"}
	later := waits
	later.Remedies = []finding.Remedy{finding.If(finding.IfThisLasts, kick)}
	typed := stale
	typed.Remedies = []finding.Remedy{finding.Do(kick)}
	assert.Equal(t, []finding.Finding{nb, typed, waits, down}, finding.Sort([]finding.Finding{waits, down, typed, nb}))
	assert.Equal(t, []finding.Finding{typed, later}, finding.Sort([]finding.Finding{later, typed}))
	assert.Equal(t, finding.Error, finding.Worst([]finding.Finding{paused, nb}))
	assert.Equal(t, finding.Info, finding.Worst(nil))
	assert.True(t, finding.Has([]finding.Finding{nb}, finding.NoQuorum))
	assert.False(t, finding.Has([]finding.Finding{nb}, finding.Paused))
}

func TestLine(t *testing.T) {
	t.Parallel()
	line := func(name string, dbs ...ovndb.Database) string {
		return finding.New(finding.MemberDown, finding.Subject{Databases: dbs, Name: name}, finding.Args{}).Line()
	}
	assert.Equal(t, "nb: u/1 is down", line("u/1", ovndb.NB))
	assert.Equal(t, "u/1 is down", line("u/1", ovndb.NB, ovndb.SB))
	both := finding.Subject{Databases: ovndb.Databases()}
	assert.Equal(t, "nb, sb: no quorum", finding.New(finding.NoQuorum, both, finding.Args{}).Line())
	assert.Equal(t, "nb sb u/1", finding.Subject{Databases: ovndb.Databases(), Name: "u/1"}.String())
}
