package reconcile

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// The version that dpkg unpacked when it was killed does not run yet, and the end of the upgrade restarts nothing.
func TestAdopt_interrupted_upgrade_restarts_northd(t *testing.T) {
	t.Parallel()
	dpkg := func(output string) runtest.Call {
		const format = `--showformat=${Package} ${db:Status-Status} ${Version}\n`
		return runtest.Expect("dpkg-query", "--show", format, "ovn-central", "openvswitch-common").Writes(output)
	}
	check := runtest.Expect("apt-get", "--quiet", "check")
	const half, whole = "ovn-central half-configured 25.03\n", "ovn-central installed 25.03\n"
	for name, c := range map[string]struct {
		calls []runtest.Call
		want  map[ovndb.Service]string
	}{
		"dpkg was killed": {
			[]runtest.Call{dpkg(half), check, dpkg(half)},
			map[ovndb.Service]string{ovndb.Northd: "an upgrade of the packages was cut off"},
		},
		"finished by another process": {
			[]runtest.Call{dpkg(half), check, dpkg(whole)}, map[ovndb.Service]string{},
		},
		"installed": {[]runtest.Call{dpkg(whole)}, map[ovndb.Service]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &Reconciler{
				Machine:  &observe.Machine{Env: juju.Env{HookName: "upgrade-charm"}, Log: slog.New(slog.DiscardHandler)},
				Packages: apt.Packages{Runner: runtest.New(t, c.calls...)}, Paths: ovndb.Paths{DB: t.TempDir()},
			}
			r, err := u.loadRecord()
			require.NoError(t, err)
			require.NoError(t, u.adopt(t.Context(), r, plan.Settings{}))
			assert.True(t, r.Packages.Adopted())
			pending, err := r.Restarts.Pending(ovndb.Version{OVN: "25.03"})
			require.NoError(t, err)
			assert.Equal(t, c.want, pending)
		})
	}
}
