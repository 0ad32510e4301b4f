package archtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// in returns a package with imports for a test; "raft" is internal/raft of this module.
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
		"downwards":                      {in("cli", "hook", "action", "membership", "run", "raft"), ""},
		"past a layer":                   {in("hook", "run", "os"), ""},
		"upwards":                        {in("ovsctl", "membership"), "internal/membership: imports run downwards only"},
		"sideways":                       {in("hook", "action"), "internal/action: imports run downwards only"},
		"from the lowest layer":          {in("run", "juju"), "internal/juju: imports run downwards only"},
		"status that asks a database":    {in("status", "ovsdb"), "internal/ovsdb: it may import [observe present juju]"},
		"status of what was observed":    {in("status", "observe", "juju", "raft"), ""},
		"package without a layer":        {in("queue", "os"), "internal/queue has no layer in rules.go"},
		"pure with pure":                 {in("plan", "raft", "ovndb"), ""},
		"pure with the rest of the code": {in("lease", "run"), "a pure package imports pure ones only"},
		"support imports what it likes":  {in("run/runtest", "run", "testing"), ""},
		"cmd imports cli":                {pkg{ImportPath: module + "/cmd/x", Imports: []string{module + "/internal/cli"}}, ""},
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
