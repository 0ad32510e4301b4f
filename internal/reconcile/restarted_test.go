package reconcile

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// A reboot, systemd after a crash and an operator restart services too. What was noted after such a start, or may have been,
// is still due.
func TestRestartThatOthersHaveMadeIsDueNoMore(t *testing.T) {
	t.Parallel()
	const nb = ovndb.NorthboundServer
	old, installed := ovndb.Version{OVN: "23.03", OVS: "3.1"}, ovndb.Version{OVN: "25.03", OVS: "3.5"}
	runs := func(invocation string) plan.ServiceState {
		return plan.ServiceState{Active: true, Invocation: invocation, Installed: true}
	}
	outdated := func(invocation string) plan.ServiceState {
		return plan.ServiceState{Active: true, Invocation: invocation}
	}
	for name, tt := range map[string]struct {
		seen  string
		noted bool // after it was seen
		hooks []plan.ServiceState
		due   bool
	}{
		"it runs as before":                        {seen: "a", hooks: []plan.ServiceState{outdated("a"), outdated("a")}, due: true},
		"it was started again":                     {seen: "a", hooks: []plan.ServiceState{runs("b")}},
		"it was started again, and seen before":    {hooks: []plan.ServiceState{outdated("a"), runs("b")}},
		"it was started before the upgrade":        {seen: "a", hooks: []plan.ServiceState{outdated("b")}, due: true},
		"it was started before and after":          {seen: "a", hooks: []plan.ServiceState{outdated("b"), runs("c")}},
		"it was never seen":                        {hooks: []plan.ServiceState{runs("b")}, due: true},
		"systemd does not say":                     {seen: "a", hooks: []plan.ServiceState{runs("")}, due: true},
		"it is down":                               {seen: "a", hooks: []plan.ServiceState{{Invocation: "b", Installed: true}}, due: true},
		"it was down, and is started":              {seen: "a", hooks: []plan.ServiceState{{Invocation: "a"}, runs("b")}},
		"the restart was noted, perhaps after it":  {seen: "a", noted: true, hooks: []plan.ServiceState{runs("b")}, due: true},
		"it was started after the note was seen":   {seen: "a", noted: true, hooks: []plan.ServiceState{runs("b"), runs("c")}},
		"nothing of it is installed, nor is known": {seen: "a", hooks: []plan.ServiceState{{}}, due: true},
	} {
		for _, pending := range []string{"", "options changed"} {
			r := &record{servicesKept: servicesKept{Running: map[ovndb.Service]ovndb.Version{nb: old}}}
			if pending != "" {
				r.due(nb, pending)
			}
			if tt.seen != "" {
				r.Invocations = map[ovndb.Service]string{nb: tt.seen}
			}
			if tt.noted {
				r.due(nb, "Package update")
			}
			for i, x := range tt.hooks {
				s := plan.State{Services: map[ovndb.Service]plan.ServiceState{nb: x}, Packages: plan.Packages{Version: installed}}
				planned := r.dueRestarts(installed, s.Services, nil)
				if i == len(tt.hooks)-1 {
					assert.Equal(t, tt.due, planned[nb] != "", name)
				}
				r.observed(s)
				assert.Equal(t, planned[nb], r.dueRestarts(installed, s.Services, nil)[nb], "%s: what a plan leaves out is noted", name)
			}
			assert.Equal(t, tt.due, r.pending(installed)[nb] != "", name)
			assert.Equal(t, !tt.due, r.Running[nb].Is(installed), name)
		}
	}
}

// What packages were refused, the record gets from files, which say nothing of what was started before: not even one
// that is due already is forgotten for a start that came before the note.
func TestRestartThatPackagesWereRefusedIsDueWhateverWasStartedBefore(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	paths := ovndb.Paths{DB: filepath.Join(root, "lib", "ovn"), Etc: filepath.Join(root, "etc", "ovn")}
	u := &Reconciler{
		Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/0"}, Log: slog.New(slog.DiscardHandler)},
		Paths:   paths, Policy: apt.Policy{App: "ovn-central", Paths: paths},
	}
	note := filepath.Join(root, "lib", "policy-rc.d", "charm-ovn-central-1f0e.deferred")
	require.NoError(t, os.MkdirAll(filepath.Dir(note), 0o755))
	require.NoError(t, os.WriteFile(note, []byte("policy_requestor_name: ovn-central\nservice: ovn-northd.service\n"), 0o600))
	r := recorded(t, u, unitKept{})
	r.servicesKept = servicesKept{
		Pending:     map[ovndb.Service]string{ovndb.Northd: "units have come or gone"},
		Invocations: map[ovndb.Service]string{ovndb.Northd: "a", ovndb.NorthboundServer: "c"},
	}
	started := map[ovndb.Service]plan.ServiceState{ovndb.Northd: {Active: true, Invocation: "b", Installed: true}}
	deferred, err := u.Policy.Deferred()
	require.NoError(t, err)
	assert.Equal(t, "Package update", r.dueRestarts(ovndb.Version{OVN: "23.03"}, started, deferred)[ovndb.Northd], "the plan of an action, which keeps nothing")
	u.keepDeferred(t.Context(), r)
	assert.Equal(t, map[ovndb.Service]string{ovndb.NorthboundServer: "c"}, r.Invocations)
	r.observed(plan.State{Services: started, Packages: plan.Packages{Version: ovndb.Version{OVN: "23.03"}}})
	assert.Equal(t, "units have come or gone", r.Pending[ovndb.Northd])
}
