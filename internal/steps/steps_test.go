package steps

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/packages"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/restarts"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// northd is a machine whose ovn-northd runs and is masked, as systemd's UnitFileState shows it.
type northd struct {
	masked string
	calls  []string
}

// Run implements run.Runner.
func (n *northd) Run(_ context.Context, c run.Command) ([]byte, error) {
	switch {
	case c.Name == "ovs-appctl":
		return []byte("connected\n"), nil
	case c.Name == "systemctl" && c.Args[0] == "show":
		var all []string
		for _, service := range ovndb.AllServices() {
			all = append(
				all,
				"Id="+string(service)+".service\nLoadState=masked\nActiveState=active\nUnitFileState="+n.masked+"\nMainPID=1\n",
			)
		}
		return []byte(strings.Join(all, "\n")), nil
	case c.Name == "systemctl":
		n.calls = append(n.calls, c.String())
	}
	return nil, nil
}

// A killed upgrade leaves services masked until the next boot, and systemctl's restart stops a masked service.
func TestRestart_northd_that_is_masked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, checkMaskedNorthd) // it waits for a control socket
}

func checkMaskedNorthd(t *testing.T) {
	t.Helper()
	for masked, want := range map[string][]string{
		"masked-runtime": {"systemctl unmask --runtime ovn-northd", "systemctl restart ovn-northd"}, "masked": nil,
	} {
		n := &northd{masked: masked}
		u := unit(t, &observe.Machine{Services: systemd.Services{Runner: n}, Control: ovsctl.Control{Runner: n}})
		u.Restarts.Due(ovndb.Northd, "upgrade")
		err := u.Restart(t.Context(), observe.Snapshot{}, ovndb.Northd)
		pending, refused := u.Restarts.Pending(ovndb.Version{})
		require.NoError(t, refused)
		assert.Equal(t, want, slices.Clone(n.calls), masked)
		if want == nil {
			require.ErrorIs(t, err, systemd.ErrNotStartable)
			assert.Contains(t, pending, ovndb.Northd)
			continue
		}
		require.NoError(t, err)
		assert.Empty(t, pending)
	}
}

// S5: a wait for a server that the start guard refuses would be useless.
func TestAwaitMember_refused_by_the_start_guard(t *testing.T) {
	t.Parallel()
	u := unit(t, new(observe.Machine))
	require.NoError(t, os.WriteFile(u.Control.Paths.StartRefusal(ovndb.NB), []byte(`{"reason": "given up"}`), 0o600))
	assert.ErrorContains(t, u.awaitMember(t.Context(), ovndb.NB, time.Hour), "given up")
}

// On a slow machine systemctl may time out although the server starts.
func TestStart_service_that_is_slow_to_start(t *testing.T) {
	t.Parallel()
	const service = ovndb.NorthboundServer
	slow := []runtest.Call{
		runtest.Expect("systemctl", "unmask", "ovn-ovsdb-server-nb"),
		runtest.Expect("systemctl", "unmask", "--runtime", "ovn-ovsdb-server-nb"),
		runtest.Expect("systemctl", "start", "ovn-ovsdb-server-nb").Fails(
			1, "Job for ovn-ovsdb-server-nb.service timed out.\n",
		),
	}
	older := ovndb.Version{OVN: "23.03", OVS: "3.1"}
	for ran, want := range map[ovndb.Version]ovndb.Version{{}: {OVN: "25.03", OVS: "3.5"}, older: older} {
		u := unit(t, &observe.Machine{Services: systemd.Services{Runner: runtest.New(t, slow...)}})
		if ran != (ovndb.Version{}) { // otherwise it never ran
			u.Restarts.Started(service, ran)
		}
		check := func() {
			t.Helper()
			runs, _ := u.Restarts.Runs(service)
			assert.Equal(t, want, runs)
		}
		saved := 0
		u.Save = func() error {
			saved++
			check()
			return nil
		}
		require.ErrorContains(t, u.start(t.Context(), []ovndb.Service{service}), "timed out")
		assert.Equal(t, 1, saved)
		check()
	}
}

// dpkg is a runner of dpkg-query on a machine that has the packages.
type dpkg struct{}

func (dpkg) Run(context.Context, run.Command) ([]byte, error) {
	return []byte("ovn-central installed 25.03\nopenvswitch-common installed 3.5\n"), nil
}

// unit returns a unit on that machine, without restarts that packages were refused.
func unit(t *testing.T, m *observe.Machine) *Unit {
	t.Helper()
	dir := t.TempDir()
	if m.Log == nil {
		m.Log = slog.New(slog.DiscardHandler)
	}
	if m.Control.Paths.DB == "" {
		m.Control.Paths = ovndb.Paths{Run: dir, DB: dir, Etc: dir}
	}
	state, err := unitstate.Open(filepath.Join(dir, "state.json"), m.Log)
	require.NoError(t, err)
	return &Unit{
		Observer: &observe.Observer{Machine: m},
		Packages: &packages.Manager{Packages: apt.Packages{Runner: dpkg{}}},
		Restarts: &restarts.Manager{
			Refusals: apt.Policy{App: "ovn-central", Paths: ovndb.Paths{DB: dir}}, State: state, Log: m.Log,
		},
		Save: func() error { return nil },
	}
}

// Members keep the address in their files. The restart of running services is recorded before the file changes.
func TestDefaults(t *testing.T) {
	t.Parallel()
	u := unit(t, new(observe.Machine))
	u.Control.Paths.Etc = filepath.Join(u.Control.Paths.Etc, "ovn")
	require.NoError(t, os.MkdirAll(filepath.Dir(u.Control.Paths.Defaults()), 0o755))
	compare := func(a observe.Addresses) plan.Drift {
		t.Helper()
		drift, err := u.defaults(a)
		require.NoError(t, err)
		return drift
	}
	own, other := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.9")
	assert.Empty(t, compare(observe.Addresses{}), "its address is unknown")
	assert.Equal(t, plan.Drifted, compare(observe.Addresses{Own: own}), "there is no file yet")
	defaults := func(own netip.Addr, drift plan.Drift) facts.Facts {
		o := facts.Facts{Addresses: observe.Addresses{Own: own}, State: plan.State{Defaults: drift}}
		o.Servers = map[ovndb.Database]observe.ServerState{ovndb.NB: {Condition: ovndb.Serving}}
		return o
	}
	require.NoError(t, u.writeDefaults(t.Context(), defaults(own, plan.Drifted), plan.Step{}))
	assert.Equal(t, plan.InSync, compare(observe.Addresses{Own: own}))
	assert.Equal(t, plan.InSync, compare(observe.Addresses{Own: other, Member: own}))
	due, err := u.Restarts.Pending(ovndb.Version{})
	require.NoError(t, err)
	assert.Empty(t, due)

	u.Save = func() error { return os.ErrPermission }
	require.ErrorIs(t, u.writeDefaults(t.Context(), defaults(other, plan.NeedsRestart), plan.Step{}), os.ErrPermission)
	assert.Equal(t, plan.InSync, compare(observe.Addresses{Own: own}), "it is not changed before the restart is noted")
	due, err = u.Restarts.Pending(ovndb.Version{})
	require.NoError(t, err)
	assert.Len(t, due, 1)
	assert.Contains(t, due, ovndb.NorthboundServer)
}

// Each step that package plan can choose has a function.
func TestFunctions(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../plan/step.go", nil, 0)
	require.NoError(t, err)
	kinds := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is {
			return true
		}
		kind, named := spec.Type.(*ast.Ident)
		if !named || kind.Name != "Kind" {
			return true
		}
		for i := range spec.Names {
			value := spec.Values[i].(*ast.BasicLit).Value
			kinds++
			assert.Contains(t, functions, plan.Kind(value[1:len(value)-1]), spec.Names[i].Name)
		}
		return true
	})
	assert.Equal(t, len(functions), kinds)
}

// While the probe's option is invalid, a database without listeners gets the default, and other databases stay
// unchanged.
// A server that has not joined yet is in no cluster.
func TestPeers_joining_server_has_no_cluster(t *testing.T) {
	t.Parallel()
	u := &Unit{Observer: &observe.Observer{Machine: &observe.Machine{Log: slog.New(slog.DiscardHandler)}}}
	peers := u.Peers(t.Context(), observe.Application{
		Unit: "ovn-central/0", Goal: map[string]juju.UnitGoal{"ovn-central/0": {}, "ovn-central/1": {}},
		Published: relation.UnitIdentities{"ovn-central/1": {
			ovndb.NB: {Server: "aa01"}, ovndb.SB: {Server: "bb01", Cluster: "cc"},
		}},
	})
	require.Len(t, peers, 1)
	assert.Equal(t, map[ovndb.Database]raft.ID{ovndb.NB: "aa01", ovndb.SB: "bb01"}, peers[0].Servers)
	assert.Equal(t, map[ovndb.Database]raft.ID{ovndb.SB: "cc"}, peers[0].Clusters)
}

func TestJudgeListeners(t *testing.T) {
	t.Parallel()
	var valid, invalid facts.Facts
	valid.Known.Settings.InactivityProbe, invalid.Known.Settings.InactivityProbe = time.Minute, time.Minute
	invalid.Known.Invalid = map[string]finding.Args{plan.OptionInactivityProbe: {Value: "-1"}}
	rows := func(probe time.Duration) (all []ovsdb.Listener) {
		for _, c := range ovsdb.WantedConnections(ovndb.NB, probe, false) {
			all = append(all, ovsdb.Listener{Connection: c})
		}
		return all
	}
	for name, test := range map[string]struct {
		o    facts.Facts
		rows []ovsdb.Listener
		want plan.Drift
	}{
		"as wanted":            {valid, rows(time.Minute), plan.InSync},
		"other probe":          {valid, rows(time.Hour), plan.Drifted},
		"none":                 {valid, nil, plan.Drifted},
		"invalid, other probe": {invalid, rows(time.Hour), ""},
		"invalid, none":        {invalid, nil, plan.Drifted},
	} {
		drift, _ := judgeListeners(test.o, ovndb.NB, test.rows)
		assert.Equal(t, test.want, drift, name)
	}
	exposed := ovsdb.Listener{Connection: ovsdb.Connection{Target: "ptcp:6641"}, UUID: "u"}
	_, found := judgeListeners(invalid, ovndb.NB, []ovsdb.Listener{exposed})
	assert.Equal(t, []plan.Listener{{Target: exposed.Target, UUID: exposed.UUID}}, found)
}

// Servers of 2.17 are simulated; ovsdb-server(1) describes how they handle the command.
func TestTrimMemory_only_old_servers_that_run(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		nb, sb string // the running versions
		sbIs   ovndb.Condition
		told   []ovndb.Database
	}{
		"both old":        {"2.17.9", "2.17.9", ovndb.Serving, ovndb.Databases()},
		"one restarted":   {"3.3.0", "2.17.9", ovndb.Serving, []ovndb.Database{ovndb.SB}},
		"neither old":     {"3.3.0", "3.3.0", ovndb.Serving, nil},
		"one down":        {"2.17.9", "2.17.9", ovndb.Down, []ovndb.Database{ovndb.NB}},
		"unknown version": {"", "", ovndb.Serving, nil},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			paths := ovndb.Paths{Run: t.TempDir(), DB: t.TempDir()}
			var calls []runtest.Call
			for _, db := range ovndb.Databases() {
				require.NoError(t, os.WriteFile(paths.Control(db), nil, 0o600))
			}
			const command = "ovsdb-server/memory-trim-on-compaction"
			for _, db := range c.told {
				calls = append(calls, runtest.Expect("ovs-appctl", "-T", "6", "-t", paths.Control(db), command, "on").
					Fails(2, "\""+command+"\" is not a valid command\n"))
			}
			u := unit(t, &observe.Machine{Control: ovsctl.Control{Runner: runtest.New(t, calls...), Paths: paths}})
			u.Restarts.Started(ovndb.NorthboundServer, ovndb.Version{OVN: "22.03.0-1", OVS: c.nb})
			u.Restarts.Started(ovndb.SouthboundServer, ovndb.Version{OVN: "22.03.0-1", OVS: c.sb})
			servers := map[ovndb.Database]observe.ServerState{
				ovndb.NB: {Condition: ovndb.Serving}, ovndb.SB: {Condition: c.sbIs},
			}
			u.TrimMemory(t.Context(), servers) // a server that is too old for it fails no hook
		})
	}
}

// Servers may continue to run although their packages are gone.
func TestPublishDamage_unobserved_stays_published(t *testing.T) {
	t.Parallel()
	log := new(bytes.Buffer)
	u := unit(t, &observe.Machine{Log: slog.New(slog.NewTextHandler(log, nil))})
	l := observe.ServerState{
		Database: ovndb.NB, Condition: ovndb.Serving,
		Status: raft.Status{Server: "a", State: raft.ClusterMember, Leader: "a"},
	}
	o := facts.Facts{
		Report: observe.Report{Clusters: []observe.Cluster{{ServerState: l, View: raft.View{Lost: []raft.ID{"a"}}}}},
	}
	o.Servers = map[ovndb.Database]observe.ServerState{ovndb.NB: l}
	u.PublishDamage(t.Context(), o) // Members is nil
	assert.Empty(t, log.String())
}
