package restore

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum, no secret
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

func TestCheckSpace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		free  int64 // in MiB, like the others
		sizes []int64
		takes int64
	}{
		"next to nothing": {16, []int64{0}, 0},
		"no spare space":  {15, []int64{0}, 16},
		"one":             {176, []int64{80}, 0},
		"one, too large":  {175, []int64{80}, 176},
		"both, too large": {176, []int64{80, 40}, 216},
		"both":            {216, []int64{40, 80}, 0}, // with a copy of the larger one at a time
	} {
		for i := range tt.sizes {
			tt.sizes[i] <<= 20
		}
		err := checkSpace("/db", tt.free<<20, tt.sizes...)
		if tt.takes == 0 {
			require.NoError(t, err, name)
		} else {
			require.Error(t, err, name)
			assert.Regexp(t, fmt.Sprintf(`/db .*\b%d MiB .*\b%d;`, tt.free, tt.takes), err.Error(), name)
		}
	}
}

// looking is a runner that lists a directory during each program. All programs fail.
type looking struct {
	dir   string
	lines []string
	seen  map[string]bool
}

func (l *looking) Run(_ context.Context, c run.Command) ([]byte, error) {
	l.lines = append(l.lines, c.String())
	entries, _ := os.ReadDir(l.dir)
	for _, e := range entries {
		l.seen[e.Name()] = true
	}
	return nil, errors.New("it is not played")
}

// A dry run, and the checks before a server stops, write nothing beside its file: a full disk would make the server
// fail.
func TestTryContents_uses_other_directory(t *testing.T) {
	t.Parallel()
	u := playedUnit(t)
	writeData(t, u)
	before := map[string]bool{}
	entries, err := os.ReadDir(u.Files.Paths.DB)
	require.NoError(t, err)
	for _, e := range entries {
		before[e.Name()] = true
	}
	l := &looking{dir: u.Files.Paths.DB, seen: map[string]bool{}}
	u.Files.Runner = l
	refusals := u.refuseContents(t.Context(),
		map[ovndb.Database]recovery.Request{ovndb.NB: {Cluster: observetest.Cluster(ovndb.NB)}})
	require.Len(t, refusals, 1)
	tried := regexp.MustCompile(`/var/tmp/ovn-central-contents-[^\s:]+`).FindString(refusals[0].Args.Value)
	require.NotEmpty(t, tried, "the premise: it was written")
	assert.Equal(t, before, l.seen)
	_, err = os.Lstat(tried)
	assert.ErrorIs(t, err, os.ErrNotExist, "nothing of it stays")
}

// R0: a server whose file lacks entries has acknowledged them. It is not stopped for a recovery before its file has
// them.
func TestStop_damaged_file(t *testing.T) {
	t.Parallel()
	m := new(observetest.Machine)
	u := playedOn(t, m)
	path := u.Files.Paths.Control(ovndb.NB)
	lost := (*membership.DamagedFileError)(nil)
	require.ErrorAs(t, u.Stop(t.Context(), ovndb.NB, "ovn-central/1"), &lost)
	require.Len(t, m.Told, 1)
	assert.Contains(t, m.Told[0], "ovsdb-server/compact", "it is told to write its file anew, which it can't here")
	assert.Empty(t, u.Held)

	require.NoError(t, os.Remove(path), "it is down")
	require.NoError(t, u.Stop(t.Context(), ovndb.NB, "ovn-central/1"))
	assert.Equal(t, "ovn-central/1", u.Held[ovndb.NB])
	assert.Contains(t, m.Told[1], "systemctl stop")
}

// writeData gives a unit a file of the Northbound database with data.
func writeData(t *testing.T, u *Unit) {
	t.Helper()
	text := `{"name":"OVN_Northbound","prev_index":1,"prev_term":1,` +
		`"prev_data":[{"name":"OVN_Northbound","tables":{},"version":"7.0.0"},{}]}`
	sum := sha1.Sum([]byte(text)) //nolint:gosec // the file format's own checksum
	text = fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sum, text)
	require.NoError(t, os.WriteFile(u.Files.Paths.File(ovndb.NB), []byte(text), 0o600))
}

// ends is a runner whose programs end with an error.
type ends struct{ err error }

func (e ends) Run(context.Context, run.Command) ([]byte, error) { return nil, e.err }

// A reboot, or a restart of Juju's agent, ends a hook during the copy of a large database. The data may be good, so the
// next hook continues.
func TestRemake_withdraws_for_bad_data_only(t *testing.T) {
	t.Parallel()
	_, terminated := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Args: []string{"-c", "kill -TERM $$"}})
	_, failed := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Args: []string{"-c", "exit 1"}})
	over, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		hook      context.Context //nolint:containedctx // the cases differ in it
		program   error
		withdrawn bool
	}{
		"the hook is told to end":               {hook: over, program: failed},
		"what it runs is told to end before it": {hook: t.Context(), program: terminated},
		"what it runs fails":                    {hook: t.Context(), program: failed, withdrawn: true},
	} {
		u := playedUnit(t)
		u.Files.Runner = ends{c.program}
		writeData(t, u)
		request := recovery.Request{Cluster: observetest.Cluster(ovndb.NB)}
		u.Kept = *requests(request)
		err := u.Remake(c.hook, ovndb.NB, "", 0, nil)
		require.Error(t, err, name)
		assert.Equal(t, c.withdrawn, u.Attempts[ovndb.NB].Why.Code == finding.RecoveryDataUnusable, name)
		assert.Equal(t, !c.withdrawn, u.Requested(), name)
	}
}
