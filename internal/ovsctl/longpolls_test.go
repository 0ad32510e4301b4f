package ovsctl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
)

// longPollLog has lines of ovsdb-server of OVS 3.1.
const longPollLog = `2026-11-23T09:00:00.000Z|00001|vlog|INFO|opened log file /var/log/ovn/ovsdb-server-nb.log
2026-11-23T09:10:00.123Z|00017|timeval|WARN|Unreasonably long 9001ms poll interval (8000ms user, 2ms system)
2026-11-23T10:10:00.123Z|00117|timeval|WARN|Unreasonably long 1002ms poll interval (20ms user, 2ms system)
2026-11-23T10:10:00.124Z|00118|timeval|WARN|faults: 0 minor, 12 major
2026-11-23T10:20:00.500Z|00120|timeval(compaction)|WARN|Unreasonably long 3500ms poll interval
2026-11-23T10:20:00.123Z|00017|timeval|WARN|Unreasonably long 4321ms poll interval
2026-11-23T10:21:00.123Z|00018|raft|INFO|says "Unreasonably long 99999ms poll interval"
2026-11-23T10:22:00.123Z|00019|timeval|WARN|Unreasonably lo`

func TestReadLongPolls(t *testing.T) {
	t.Parallel()
	paths := ovndb.Paths{Logs: t.TempDir()}
	since := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	found, err := ovsctl.ReadLongPolls(paths, ovndb.NB, since)
	require.NoError(t, err)
	assert.Zero(t, found, "there is no log")

	log := filepath.Join(paths.Logs, "ovsdb-server-nb.log")
	require.NoError(t, os.WriteFile(log, []byte(longPollLog), 0o600))
	found, err = ovsctl.ReadLongPolls(paths, ovndb.NB, since)
	require.NoError(t, err)
	assert.Equal(t, ovsctl.LongPolls{Count: 2, Longest: 4321 * time.Millisecond}, found)

	// Only the end of a long log is read.
	long := longPollLog + "\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 20_000) + longPollLog + "\n"
	require.NoError(t, os.WriteFile(log, []byte(long), 0o600))
	found, err = ovsctl.ReadLongPolls(paths, ovndb.NB, since)
	require.NoError(t, err)
	assert.Equal(t, 2, found.Count)
}
