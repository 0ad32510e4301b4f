package findingtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
)

func TestTyped_wrong_lines_are_found(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"juju run ovn-central/0 kick nb-identity=aa04 i-really-mean-it=true",
		`juju run ovn-central/0 kick sb-identity='"0010"' i-really-mean-it=true`,
		"juju run-action ovn-central/leader backup --wait",
		"juju run ovn-central/1 recover give-up='ovn-central/0 ovn-central/2' i-really-mean-it=true --wait=30m",
		"juju run vault/leader reissue-certificates",
		"juju remove-unit --force ovn-central/1 ovn-central/2",
		"juju config ovn-central ovsdb-server-election-timer=8",
		"juju config ovn-central --reset source",
		"juju ssh ovn-central/0 'sudo systemctl unmask ovn-northd && sudo systemctl restart ovn-northd'",
		"ovn-nbctl --id=@g get HA_Chassis_Group g -- set Logical_Router_Port p ha_chassis_group=@g",
		`ovn-nbctl set Gateway_Chassis p 'name="a b"'`,
	} {
		assert.NoError(t, findingtest.Typed(line))
	}
	for name, line := range map[string]string{
		"nothing":                 "",
		"a quote is open":         "juju run ovn-central/0 health 'x",
		"an unquoted variable":    "juju remove-unit $UNIT",
		"no such verb":            "juju kick ovn-central/0",
		"no such action":          "juju run ovn-central/0 kik nb-identity=aa04",
		"no such parameter":       "juju run ovn-central/0 kick nb-id=aa04",
		"a parameter twice":       "juju run ovn-central/0 kick unit=a/1 unit=a/2",
		"a wrong type":            "juju run ovn-central/0 kick nb-identity=aa04 force=hard",
		"a number for a name":     "juju run ovn-central/0 kick unit=4",
		"not one of the values":   "juju run ovn-central/0 rejoin database=northbound",
		"a parameter is missing":  "juju run ovn-central/0 ok-to-stop",
		"a unit without number":   "juju run ovn-central kick nb-identity=aa04",
		"several units of action": "juju run ovn-central/0 ovn-central/1 health",
		"no time to wait":         "juju run ovn-central/0 backup --wait=long",
		"without a wait":          "juju run-action ovn-central/0 health",
		"no such option":          "juju config ovn-central election-timer=8",
		"an option's type":        "juju config ovn-central ovsdb-server-election-timer=soon",
		"no option to reset":      "juju config ovn-central --reset election-timer",
		"no unit to resolve":      "juju resolved --no-retry ovn-central",
		"no such program":         "juju ssh ovn-central/0 sudo ovs-vsctl show",
		"no such service":         "juju ssh ovn-central/0 sudo systemctl restart ovn-ovsdb-server",
		"no such command":         "ovn-nbctl lrp-drop-gateway-chassis p c1",
		"too few words":           "ovn-nbctl lrp-del-gateway-chassis p",
	} {
		assert.Error(t, findingtest.Typed(line), name)
	}
}

func TestBrief_wrong_remedy_panics(t *testing.T) {
	t.Parallel()
	kick := func(key string) finding.Finding {
		return finding.New(finding.StaleMember, finding.Subject{}, finding.Args{}, finding.Do(command.Command{
			Unit: "ovn-central/0", Action: "kick", Params: []command.Param{{Key: key, Value: "aa04"}},
		}))
	}
	assert.NotPanics(t, func() { findingtest.Brief(kick("nb-identity")) })
	assert.Panics(t, func() { findingtest.Brief(kick("nb-server-id")) })
}

// Every command of Juju in the golden files, which show what people and programs read, can be typed. reasons.txt has
// placeholders.
func TestTyped_golden_files(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) != "testdata" || d.Name() == "reasons.txt" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, line := range strings.Split(string(text), "\n") {
			for _, typed := range commandsIn(line) {
				found++
				assert.NoError(t, findingtest.Typed(typed), path)
			}
		}
		return err
	})
	require.NoError(t, err)
	assert.Greater(t, found, 50)
}

// commandsIn returns the commands in a line. They are at its beginning, or after a colon, and end before details.
func commandsIn(line string) (all []string) {
	line, _, _ = strings.Cut(strings.TrimLeft(line, ` "`), `"`)
	for _, part := range strings.Split(line, "; ") {
		before, command, is := strings.Cut(part, "juju ")
		if !is || before != "" && !strings.HasSuffix(before, ": ") {
			continue
		}
		command, _, _ = strings.Cut(command, " (")
		all = append(all, "juju "+strings.TrimSuffix(command, ")")) // it may end the details
	}
	return all
}
