package lab_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// What else keeps a unit in the model is in package model.
func TestUnitIsGoneWhileItsStopRuns(t *testing.T) {
	// It writes until it is refused.
	const endless = `while is-leader --format=json > leads; do sleep 0.02; done; echo refused > refused`
	tests := map[string]struct {
		ways           lab.Ways
		stop           string
		stays, refused bool
		hooks          []string
	}{
		"nothing waits for its stop": {
			lab.Ways{GoneAfter: time.Minute},
			endless, false, true,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop (gone)"},
		},
		"a stop that fails isn't run again": {
			lab.Ways{GoneAfter: 5 * time.Minute}, // 6 s here: a busy machine takes a while for a hook
			"exit 1", false, false,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop (failed)"},
		},
		"a stop that is quick enough is the end": {
			lab.Ways{GoneAfter: time.Hour},
			"", false, false,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop", "remove"},
		},
		"juju 3 waits for ever": {
			lab.WaysOf("3.6.11"), "exit 1", true, false,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop (failed)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, lab.Options{Ways: &test.ways, Charm: newCharm(t, scripts{"stop": test.stop})})
			_, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
			require.NoError(t, err)
			u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
			require.NoError(t, err)
			u.RestartAgent()
			before := len(u.Hooks())
			err = l.RemoveUnit(ctx(t), u, lab.RemoveOptions{})
			if test.stays {
				require.ErrorAs(t, err, new(*lab.HookError))
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, !test.stays, u.Removed())
			assert.Equal(t, test.hooks, u.Hooks()[before:])
			if test.refused {
				assert.Equal(t, "refused\n", read(t, u.CharmDir(), "refused"))
			}
		})
	}
}

func TestNewUnitHearsOfItsPeersOneByOne(t *testing.T) {
	ways := lab.WaysOf("4.0.15")
	note := `echo "$(relation-list --format=json -r ovsdb-peer:1 | grep -o ovn-central/ | wc -l) of $(goal-state --format=json | grep -o '"ovn-central/' | wc -l)" >> seen`
	l := newLab(t, lab.Options{JujuVersion: "4.0.15", Ways: &ways, Charm: newCharm(t, scripts{"start": note, "ovsdb-peer-relation-joined": note})})
	for range 3 {
		_, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true, NoHooks: true})
		require.NoError(t, err)
	}
	require.NoError(t, l.Settle(ctx(t)))
	for _, u := range l.Units() {
		assert.Equal(t, "0 of 3\n1 of 3\n2 of 3\n", read(t, u.CharmDir(), "seen"), u.Name())
	}
}
