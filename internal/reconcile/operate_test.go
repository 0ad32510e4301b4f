package reconcile

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// The note of a restart that packages were refused is removed once the unit's own record has it on the
// disk, and not before: what is killed in between, or can't write, does not lose the restart.
func TestRefusedRestartIsForgottenOnlyOnceTheRecordHasIt(t *testing.T) {
	t.Parallel()
	root, log := t.TempDir(), new(bytes.Buffer)
	paths := ovndb.Paths{DB: filepath.Join(root, "lib", "ovn"), Etc: filepath.Join(root, "etc", "ovn")}
	u := &Reconciler{
		Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/0"}, Log: slog.New(slog.NewTextHandler(log, nil))},
		Paths:   paths, Policy: ovn.Policy{App: "ovn-central", Paths: paths},
	}
	note := filepath.Join(root, "lib", "policy-rc.d", "charm-ovn-central-1f0e.deferred")
	require.NoError(t, os.MkdirAll(filepath.Dir(note), 0o755))
	require.NoError(t, os.WriteFile(note, []byte("policy_requestor_name: ovn-central\nservice: ovn-northd.service\n"), 0o600))

	require.NoError(t, os.WriteFile(paths.DB, nil, 0o600)) // no record can be written below a file
	u.keepDeferred(t.Context(), &record{})
	assert.FileExists(t, note)
	assert.Contains(t, log.String(), "cannot note what packages wanted to restart")

	require.NoError(t, os.Remove(paths.DB))
	u.keepDeferred(t.Context(), &record{})
	assert.NoFileExists(t, note)
	kept, err := u.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, map[ovndb.Service]string{ovndb.Northd: "Package update"}, kept.Pending)
}

// bare is a machine that has no firewall, and where all else does as it is told.
type bare struct{}

// Run implements run.Runner.
func (bare) Run(_ context.Context, c run.Command) ([]byte, error) {
	if c.Name == "ufw" {
		return nil, &run.Error{Command: c, ExitCode: -1, Err: exec.ErrNotFound}
	}
	return nil, nil
}

// A unit that comes after may have the same name, and its application other clusters.
func TestUnitThatIsRemovedLeavesNoMemory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	paths := ovndb.Paths{Run: filepath.Join(root, "run", "ovn"), DB: filepath.Join(root, "lib", "ovn"), Etc: filepath.Join(root, "etc", "ovn")}
	machine := &observe.Machine{
		Env: juju.Env{Unit: "ovn-central/0"}, Log: slog.New(slog.DiscardHandler),
		Control: ovn.Control{Runner: bare{}, Paths: paths}, Services: ovn.Services{Runner: bare{}},
	}
	u := &Reconciler{
		Machine: machine, Observer: &observe.Observer{Machine: machine}, Paths: paths,
		Policy: ovn.Policy{App: "ovn-central", Paths: paths, Runner: bare{}}, Firewall: firewall.Firewall{Runner: bare{}},
	}
	require.NoError(t, u.saveRecord(&record{Known: true}))
	require.NoError(t, os.WriteFile(u.Observer.CachePath(), []byte("{}"), 0o600))
	require.NoError(t, u.Remove(t.Context()))
	left, err := os.ReadDir(paths.DB)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestRestartIsForWhatIsNamedOrElseHeldBack(t *testing.T) {
	t.Parallel()
	const northd, nb, sb = ovndb.Northd, ovndb.NorthboundServer, ovndb.SouthboundServer
	held := map[ovndb.Service]string{nb: "options changed"}
	for name, tt := range map[string]struct {
		paused  bool
		pending map[ovndb.Service]string
		names   []string
		want    []ovndb.Service
		err     error
	}{
		"what is held back":             {pending: held, want: []ovndb.Service{nb}},
		"nothing is held back":          {},
		"one by name":                   {pending: held, names: []string{"ovn-northd"}, want: []ovndb.Service{northd}},
		"all by name":                   {names: []string{"ovn-central"}, want: []ovndb.Service{northd, nb, sb}},
		"no such one":                   {names: []string{"ovn-controller"}, err: ErrNoService},
		"of a paused unit, by name":     {paused: true, names: []string{"ovn-northd"}, err: ErrPaused},
		"of a paused unit, held back":   {paused: true, pending: held, err: ErrPaused},
		"of a paused unit, none is due": {paused: true},
	} {
		wanted, err := (&record{Paused: tt.paused}).restartTargets(tt.pending, tt.names)
		require.ErrorIs(t, err, tt.err, name)
		var all []ovndb.Service
		for service, is := range wanted {
			if is {
				all = append(all, service)
			}
		}
		assert.ElementsMatch(t, tt.want, all, name)
	}
}
