package reconcile

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
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
