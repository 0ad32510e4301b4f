package deployment

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A server that is killed after it has received the log, but before the log has its own entry, leaves an unusable
// file.
func TestJoin_half_joined_file_is_archived_and_unit_joins(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{})
	c.Hold(true)
	joiner := c.AddEmpty()
	c.DeliverUntil(joiner, "certificates-relation-joined")
	c.KillPending(joiner, func(call string) bool { return strings.HasPrefix(call, "systemctl start ovn-ovsdb-server-nb") })
	half := halfJoined(t, units[0].DBFile(lab.NB), joiner.DBFile(lab.NB))
	require.NoError(t, os.WriteFile(joiner.DBFile(lab.NB), half, 0o640))
	out, err := joiner.Exec(t.Context(), "ovsdb-tool", "check-cluster", joiner.DBFile(lab.NB))
	require.Contains(t, out+err.Error(), "server list", "the premise")
	c.Hold(false)
	require.NoError(t, c.Settle(t.Context()))
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(append(units, joiner)...)
	assert.Len(t, c.PutAway(joiner), 1)
}

// halfJoined returns a member's file with the header of a joining server, which is not in its list of members.
func halfJoined(t *testing.T, member, joining string) []byte {
	t.Helper()
	theirs, rest := header(t, member)
	own, _ := header(t, joining)
	theirs["server_id"], theirs["local_address"] = own["server_id"], own["local_address"]
	text, err := json.Marshal(theirs)
	require.NoError(t, err)
	text = append(text, '\n')
	return slices.Concat(fmt.Appendf(nil, "OVSDB CLUSTER %d %x\n", len(text), sha1.Sum(text)), text, rest)
}

// header returns the first record of a clustered database's file (ovsdb(5), ovsdb/log.c), and the rest.
func header(t *testing.T, path string) (record map[string]any, rest []byte) {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	var size int
	var sum string
	first, rest, _ := bytes.Cut(file, []byte("\n"))
	_, err = fmt.Sscanf(string(first), "OVSDB CLUSTER %d %s", &size, &sum)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(rest[:size], &record))
	return record, rest[size:]
}

// A member has applied its own removal, which the others have not, and then lost its power. The others count on its
// vote, and its file is unusable. The entry is written by hand, since a leader that is removed hands over first.
func TestJoin_member_off_during_removal_is_kicked_first(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{})
	u, other := units[2], units[0]
	id := c.ServerID(u, lab.NB)
	require.NoError(t, u.PowerOff())
	takeItsRemoval(t, u.DBFile(lab.NB), id)
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.RunUpdateStatus(u)
	c.Says(u, "blocked")
	c.Finds(u, finding.FileCutOff, "nb")
	assert.Equal(t, "juju run "+u.Name()+" rejoin database=nb i-really-mean-it=true", c.NextCommands(u)[0])
	assert.Empty(t, c.PutAway(u, lab.NB))
	c.Act(other, "kick", "nb-identity="+id[:8], "force=true", "i-really-mean-it=true")
	c.Tick("it has joined again", c.AllActive)
	assert.Len(t, c.PutAway(u, lab.NB), 1)
	c.RequireOneCluster(units...)
}

// takeItsRemoval makes the last entry of a member's file the removal of that member.
func takeItsRemoval(t *testing.T, path, id string) {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	type entry struct {
		Index   uint64            `json:"index"`
		Term    uint64            `json:"term"`
		Servers map[string]string `json:"servers,omitempty"`
	}
	var last entry
	for record := range strings.SplitSeq(string(file), "OVSDB CLUSTER ") {
		_, text, _ := strings.Cut(record, "\n")
		var e entry
		if !strings.Contains(text, `"index":`) {
			continue
		}
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		if e.Servers == nil {
			e.Servers = last.Servers
		}
		last = e
	}
	require.Contains(t, last.Servers, id)
	delete(last.Servers, id)
	last.Index++
	text, err := json.Marshal(last)
	require.NoError(t, err)
	text = append(text, '\n')
	file = append(file, fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum(text), text)...)
	require.NoError(t, os.WriteFile(path, file, 0o640))
}
