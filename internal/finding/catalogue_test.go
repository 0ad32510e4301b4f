package finding_test

import (
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

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// full is a finding with every argument.
func full(e finding.Entry) finding.Finding {
	s := finding.Subject{Name: "ovn-central/0"}
	if e.Kind == finding.Database {
		s = finding.Subject{Databases: []ovndb.Database{ovndb.NB}}
	}
	return finding.New(e.Code, s, finding.Args{
		Unit: "ovn-central/1", Units: []string{"ovn-central/2", "ovn-central/3"}, Cluster: "aaaa", Other: "bbbb", Path: "/var/x.db", Service: "x.service",
		Address: "10.0.0.1", Version: "3.3", Value: "value", Count: 2, Total: 3, Duration: 4 * time.Second, Time: time.Unix(0, 0),
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

// A code that no other package uses describes nothing that an operator can meet; the same holds for conditions and deeds.
func TestEveryCodeConditionAndDeedIsUsed(t *testing.T) {
	t.Parallel()
	var own, product strings.Builder
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if filepath.Dir(path) == filepath.Join("..", "finding") {
			own.Write(text)
		} else {
			product.Write(text)
		}
		return err
	}))
	names := regexp.MustCompile(`(?m)^\t(\w+)\s+(Code|Condition|Deed)\s+= "(.*)"$`).FindAllStringSubmatch(own.String(), -1)
	require.Greater(t, len(names), len(finding.Catalogue()))
	used := map[string]bool{}
	for _, use := range regexp.MustCompile(`\bfinding\.(\w+)`).FindAllStringSubmatch(product.String(), -1) {
		used[use[1]] = true
	}
	var codes []finding.Code
	for _, name := range names {
		assert.True(t, used[name[1]], name[1])
		switch name[2] {
		case "Code":
			codes = append(codes, finding.Code(name[3]))
		case "Condition":
			f := full(finding.Catalogue()[0])
			text := f.Condition(finding.Remedy{When: finding.Condition(name[3])})
			assert.NotEmpty(t, text, name[1])
			assert.NotRegexp(t, `[{}]`, text, name[1])
		case "Deed":
			f := full(finding.Catalogue()[0])
			assert.NotRegexp(t, `[{}]`, f.Deed(finding.ByHand(finding.Deed(name[3]))), name[1])
		}
	}
	for _, e := range finding.Catalogue() {
		assert.Contains(t, codes, e.Code)
	}
	for _, code := range codes {
		assert.True(t, slices.ContainsFunc(finding.Catalogue(), func(e finding.Entry) bool { return e.Code == code }), code)
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	nb, sb := finding.Of(finding.NoQuorum, ovndb.NB, finding.Args{}), finding.Of(finding.NoQuorum, ovndb.SB, finding.Args{})
	other := finding.Of(finding.NoQuorum, ovndb.SB, finding.Args{Detail: "1 of 3"})
	one := finding.Of(finding.NoQuorum, ovndb.NB, finding.Args{Detail: "1 of 5"})
	paused, down := finding.New(finding.Paused, finding.Subject{}, finding.Args{}), finding.Of(finding.MemberDown, ovndb.NB, finding.Args{})
	stale := finding.Of(finding.StaleMember, ovndb.NB, finding.Args{})

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
	assert.Equal(t, []finding.Finding{down.As(finding.Error), paused}, finding.Sort([]finding.Finding{paused, down.As(finding.Error)}))
	assert.Equal(t, finding.Error, finding.Worst([]finding.Finding{paused, nb}))
	assert.Equal(t, finding.Info, finding.Worst(nil))
	assert.True(t, finding.Has([]finding.Finding{nb}, finding.NoQuorum))
	assert.False(t, finding.Has([]finding.Finding{nb}, finding.Paused))
}

func TestLineNamesTheDatabases(t *testing.T) {
	t.Parallel()
	line := func(name string, dbs ...ovndb.Database) string {
		return finding.New(finding.MemberDown, finding.Subject{Databases: dbs, Name: name}, finding.Args{}).Line()
	}
	assert.Equal(t, "nb: u/1 is down", line("u/1", ovndb.NB))
	assert.Equal(t, "u/1 is down", line("u/1", ovndb.NB, ovndb.SB))
	assert.Equal(t, "nb, sb: no quorum", finding.New(finding.NoQuorum, finding.Subject{Databases: ovndb.Databases()}, finding.Args{}).Line())
	assert.Equal(t, "nb sb u/1", finding.Subject{Databases: ovndb.Databases(), Name: "u/1"}.String())
}
