package archtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// in is a made-up package with imports; "raft" is internal/raft of this module.
func in(name string, imports ...string) pkg {
	p := pkg{ImportPath: module + "/internal/" + name, Name: name}
	for _, i := range imports {
		if layeredOrPure(i) {
			i = module + "/internal/" + i
		}
		p.Imports = append(p.Imports, i)
	}
	return p
}

func layeredOrPure(name string) bool {
	path := module + "/internal/" + name
	_, layered := layerOf(path)
	return layered || isPure(path) || isSupport(path) && name != "testing"
}

func TestImportChecker(t *testing.T) {
	tests := map[string]struct {
		pkg  pkg
		want string // the end of the only complaint; "" for none
	}{
		"downwards":                       {in("cli", "hook", "action", "membership", "run", "raft"), ""},
		"past a layer":                    {in("hook", "run", "os"), ""},
		"upwards":                         {in("ovsctl", "membership"), "internal/membership: imports run downwards only"},
		"sideways":                        {in("hook", "action"), "internal/action: imports run downwards only"},
		"from the lowest layer":           {in("run", "juju"), "internal/juju: imports run downwards only"},
		"programs by run":                 {in("run", "os/exec"), ""},
		"programs by another":             {in("ovsctl", "os/exec"), "os/exec: only [run] may"},
		"libovsdb by ovsdb":               {in("ovsdb", "github.com/ovn-org/libovsdb/client"), ""},
		"libovsdb by another":             {in("membership", "github.com/ovn-org/libovsdb/client"), "only [ovsdb] may"},
		"path that only begins alike":     {in("ovsctl", "github.com/ovn-org/libovsdbfake"), ""},
		"yaml by render":                  {in("render", "go.yaml.in/yaml/v3"), ""},
		"yaml by another":                 {in("action", "go.yaml.in/yaml/v3"), "only [render] may"},
		"yaml that is archived":           {in("render", "gopkg.in/yaml.v3"), "only [] may"},
		"yaml of Juju":                    {in("render", "gopkg.in/yaml.v2"), "only [] may"},
		"hook names of Juju":              {in("hook", "github.com/juju/charm/v12/hooks"), "only [] may"},
		"all of Juju's charm code":        {in("hook", "github.com/juju/charm/v12"), "only [] may"},
		"test code in the product":        {in("membership", "testing"), "testing: only [] may"},
		"support for tests":               {in("membership", "run/runtest"), "internal/run/runtest: it is for tests"},
		"status that asks a database":     {in("status", "ovsdb"), "internal/ovsdb: it may import [observe present juju relation]"},
		"status of what was observed":     {in("status", "observe", "juju", "raft"), ""},
		"planner by what observes":        {in("observe", "plan"), "internal/plan: only [reconcile operate steps certificates publish restarts restore action membership document status] may"},
		"package without a layer":         {in("queue", "os"), "internal/queue has no layer in rules.go"},
		"pure with the standard library":  {in("raft", "fmt", "strings", "time"), ""},
		"records in their form":           {in("lease", "encoding/json"), ""},
		"decisions in a form":             {in("gateway/schedule", "encoding/json"), "encoding/json: what it decides is put in a form above it"},
		"tables by document":              {in("document", "text/tabwriter"), ""},
		"tables by what decides":          {in("gateway/schedule", "text/tabwriter"), "text/tabwriter: only [document present] may"},
		"pure with pure":                  {in("plan", "raft", "ovndb"), ""},
		"pure with files":                 {in("raft", "os"), "os: a pure package imports no such thing"},
		"pure with a part of files":       {in("raft", "os/signal"), "a pure package imports no such thing"},
		"pure with the network":           {in("lease", "net/netip"), "a pure package imports no such thing"},
		"pure with dice":                  {in("gateway/schedule", "math/rand/v2"), "a pure package imports no such thing"},
		"pure with the rest of the code":  {in("lease", "run"), "a pure package imports no such thing"},
		"pure with others' code":          {in("lease", "github.com/go-logr/logr"), "a pure package imports no such thing"},
		"pure with programs":              {in("raft", "os/exec"), "os/exec: only [run] may"},
		"support imports what it likes":   {in("run/runtest", "run", "testing"), ""},
		"tools are not the product":       {pkg{ImportPath: module + "/tools/pack", Imports: []string{"github.com/juju/charm/v12"}}, ""},
		"cmd imports cli":                 {pkg{ImportPath: module + "/cmd/x", Imports: []string{module + "/internal/cli"}}, ""},
		"cmd is bound to the owners, too": {pkg{ImportPath: module + "/cmd/x", Imports: []string{"os/exec"}}, "only [run] may"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wrong := checkImports([]pkg{test.pkg})
			if test.want == "" {
				assert.Empty(t, wrong)
				return
			}
			require.Len(t, wrong, 1)
			assert.True(t, strings.HasSuffix(wrong[0], test.want), wrong[0])
		})
	}
}

func TestPackageChecker(t *testing.T) {
	const clause = "package x\n"
	long := clause + strings.Repeat("\n", maxLines)
	tests := map[string]struct {
		name  string
		files []source
		want  []string
	}{
		"as it should be":        {"x", []source{{name: "x.go", text: []byte(clause)}}, nil},
		"empty name":             {"utils", []source{{name: "x.go", text: []byte(clause)}}, []string{": the name says nothing"}},
		"long file":              {"x", []source{{name: "x.go", text: []byte(long)}}, []string{"x.go: 401 lines, more than 400"}},
		"long test":              {"x", []source{{name: "x.go", text: []byte(clause)}, {name: "x_test.go", text: []byte(long), test: true}}, nil},
		"clock in pure code":     {"x", []source{{name: "x.go", pure: true, text: []byte(clause + "import \"time\"\nvar now = time.Now\n")}}, []string{"x.go:3:11: a pure package is given the time, it doesn't use time.Now"}},
		"clock in other code":    {"x", []source{{name: "x.go", text: []byte(clause + "import \"time\"\nvar now = time.Now\n")}}, nil},
		"durations in pure code": {"x", []source{{name: "x.go", pure: true, text: []byte(clause + "import \"time\"\nconst limit = time.Second\n")}}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wrong, err := checkPackage(pkg{ImportPath: "x", Name: test.name}, test.files)
			require.NoError(t, err)
			require.Len(t, wrong, len(test.want))
			for i, want := range test.want {
				assert.True(t, strings.HasSuffix(wrong[i], want), wrong[i])
			}
		})
	}
}
