package restore

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

func TestCheckSpace(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct {
		free  int64
		sizes []int64
		want  string
	}{
		"next to nothing": {16 * mib, []int64{0}, ""},
		"not even what is to be left": {
			15 * mib, []int64{0}, "the disk of /db has 15 MiB free, and it takes 16; make space",
		},
		"one": {176 * mib, []int64{80 * mib}, ""},
		"one, too large": {
			175 * mib, []int64{80 * mib}, "the disk of /db has 175 MiB free, and it takes 176; make space",
		},
		"each would do, both don't": {
			176 * mib, []int64{80 * mib, 40 * mib}, "the disk of /db has 176 MiB free, and it takes 216; make space",
		},
		"both, with a copy of the larger once": {216 * mib, []int64{40 * mib, 80 * mib}, ""},
	} {
		err := checkSpace("/db", tt.free, tt.sizes...)
		if tt.want == "" {
			require.NoError(t, err, name)
		} else {
			assert.EqualError(t, err, tt.want, name)
		}
	}
}

// looking is a runner of programs that looks what is in a folder while one runs; all fail.
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

// A dry run, and what is looked at before a server is stopped, writes nothing to the folder of a server that
// serves: were its disk full, the server would be lost.
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
	require.Contains(t, refusals[0].Args.Value, "cannot load /var/tmp/ovn-central-contents-",
		"the premise: it was written")
	assert.Equal(t, before, l.seen)
	tried := strings.Fields(strings.SplitAfter(refusals[0].Args.Value, "cannot load ")[1])[0]
	_, err = os.Lstat(strings.TrimSuffix(tried, ":"))
	assert.ErrorIs(t, err, os.ErrNotExist, "nothing of it stays")
}
