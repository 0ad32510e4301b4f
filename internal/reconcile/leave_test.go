package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/operate"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
)

// bare is a machine on which every command succeeds except ufw, which ends with the error.
type bare struct{ ufw error }

// Run implements run.Runner.
func (b bare) Run(_ context.Context, c run.Command) ([]byte, error) {
	if c.Name == "ufw" {
		return nil, b.ufw
	}
	return nil, nil
}

// A later unit may have the same name, and its application other clusters.
func TestRemove_keeps_data_only(t *testing.T) {
	t.Parallel()
	for name, bare := range map[string]bare{
		"no ufw": {&run.Error{ExitCode: -1, Err: exec.ErrNotFound}},
		// The error of ufw 0.36.2 in a container without the module ip_tables.
		"ufw fails": {&run.Error{
			ExitCode: 1, Err: errors.New("exit status 1"),
			Stderr: "ERROR: problem running iptables: iptables v1.8.9 (legacy): can't initialize iptables table `filter'",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkRemove(t, bare)
		})
	}
}

func checkRemove(t *testing.T, runner bare) {
	t.Helper()
	root := t.TempDir()
	paths := ovndb.Paths{
		Run: filepath.Join(root, "run", "ovn"), DB: filepath.Join(root, "lib", "ovn"), Etc: filepath.Join(root, "etc", "ovn"),
	}
	machine := &observe.Machine{
		Env: juju.Env{Unit: "ovn-central/0"}, Log: slog.New(slog.DiscardHandler),
		Now:     func() time.Time { return observetest.Now },
		Control: ovsctl.Control{Runner: runner, Paths: paths}, Files: ovsctl.Files{Runner: runner, Paths: paths},
		Services: systemd.Services{Runner: runner},
	}
	u := &Reconciler{
		Observer: &observe.Observer{Machine: machine},
		Policy:   apt.Policy{App: "ovn-central", Paths: paths, Runner: runner}, Firewall: ufw.Firewall{Runner: runner},
	}
	recorded(t, u, kept{Known: true})
	require.NoError(t, os.WriteFile(u.Observer.CachePath(), []byte("{}"), 0o600))
	putAway := stageFile(t, paths, ovndb.NB, "ab01")
	require.NoError(t, os.WriteFile(paths.File(ovndb.SB)+".standalone", nil, 0o600))
	require.NoError(t, u.Remove(t.Context()))
	assert.Equal(t, []string{putAway}, filesIn(t, paths.DB), "all data of a database may be in it (R10)")
}

// A withdrawn recovery leaves the file of its new cluster, which has all data of the old one. A unit that was removed
// by force runs no hook `remove`, so the next unit on the machine must not take the file for its own.
func TestAdopt_discards_staged_cluster_of_former_unit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hook, from string
		known      bool
		claimed    raft.ID
		kept       bool
	}{
		"install, former unit":           {hook: "install", from: "ovn-central/7"},
		"install, no record":             {hook: "install"},
		"upgrade-charm, former unit":     {hook: "upgrade-charm", from: "ovn-central/7"},
		"later hook, own record":         {hook: "config-changed", from: "ovn-central/0", known: true, kept: true},
		"killed before its first record": {hook: "start"},
		"record lost, claimed":           {hook: "start", claimed: observetest.Full("ab01"), kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := observetest.Three(t)
			s.NB.Condition, s.SB.Condition = ovndb.Absent, ovndb.Absent
			u := playedUnit(s, new(observetest.Machine))
			u.Env.HookName, u.Packages.Runner = tt.hook, bare{}
			if tt.from != "" {
				former := *u.Machine
				former.Env.Unit = tt.from
				k := kept{Known: true, Asked: operate.Asked{Paused: !tt.known}}
				recorded(t, &Reconciler{Observer: &observe.Observer{Machine: &former}}, k)
			}
			putAway := stageFile(t, u.Control.Paths, ovndb.NB, "ab01")
			r, err := u.loadRecord()
			require.NoError(t, err)
			r.Leader.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: tt.claimed}
			require.NoError(t, u.adopt(t.Context(), r, plan.Settings{}))
			assert.True(t, r.Known)
			found := filesIn(t, u.Control.Paths.DB)
			assert.Equal(t, tt.kept, slices.Contains(found, filepath.Base(u.Control.Paths.File(ovndb.NB))+".new"), found)
			assert.Equal(t, !tt.kept, slices.Contains(found, putAway), found)
		})
	}
}

// playedUnit returns a unit of a scenario, on a machine.
func playedUnit(s observetest.Scenario, m *observetest.Machine) *Reconciler {
	o := s.ObserverOn(m)
	o.Log = slog.New(slog.DiscardHandler)
	changer := &membership.Changer{Machine: o.Machine, Observer: o, Progress: func(context.Context, string) {}}
	return &Reconciler{Observer: o, Members: changer}
}

// stageFile writes a new cluster beside a database's file. It returns the name that the file gets if it is discarded.
func stageFile(t *testing.T, paths ovndb.Paths, db ovndb.Database, cluster string) string {
	t.Helper()
	path := paths.File(db) + ".new"
	file := observetest.FileOf(db, observetest.Full("aa09"), observetest.Full(cluster), nil)
	require.NoError(t, os.WriteFile(path, file, 0o600))
	return filepath.Base(path) + ".left-" + observetest.Now.UTC().Format("20060102T150405Z")
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
