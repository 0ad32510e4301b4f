package deployment

import (
	"crypto/sha1" //nolint:gosec // the format of OVSDB's files
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Each member converts its own copy: the leader waits for the other member's disk.
func TestConversion_waits_for_space_on_other_members(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{JujuVersion: lab.Juju4})
	leader := units[0]
	u := addOnFullDisk(c)
	c.FreeDisk(u.DBDir())
	c.Tick("two members", c.AllActive)
	c.OfferUpgrade(leader, u)
	require.NoError(t, c.Configure(t.Context(), labtest.Archive(1)))
	c.Tick("it says what its machine lacks", func() bool {
		return c.HasFinding(u, finding.ConversionLacksRoom, "")
	})
	c.Act(u, "restart-services", "services=ovn-central") // and leads neither database afterwards
	c.Tick("the unit that leads waits for the other one's room", func() bool {
		waits, _ := c.Findings(leader).Find(finding.SchemaOlder, "")
		return strings.Contains(waits.Message, u.Name())
	})
	assert.NotContains(t, c.Schemas(leader, u), lab.NewerSchema)
	require.NoError(t, syscall.Mount("", u.DBDir(), "", syscall.MS_REMOUNT, "size=100m"))
	c.Tick("both databases are of the newer schema", func() bool { return c.Converted(leader, u) && c.AllActive() })
}

// convertByNewer appends to a unit's file the record that a leader of OVS 3.2 or later stores when it converts: the
// schema, and no data.
func convertByNewer(t *testing.T, u *lab.Unit, db lab.DB, term, index uint64) {
	t.Helper()
	text, err := os.ReadFile("/usr/share/ovn/ovn-" + string(db) + ".ovsschema")
	require.NoError(t, err)
	record, err := json.Marshal(map[string]any{
		"term": term, "index": index, "eid": "11111111-2222-4333-8444-555555555555", "data": []any{json.RawMessage(text), nil},
	})
	require.NoError(t, err)
	record = append(record, '\n')
	f, err := os.OpenFile(u.DBFile(db), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, "OVSDB CLUSTER %d %x\n%s", len(record), sha1.Sum(record), record) //nolint:gosec // as above
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// The log of a server that has ended on a file of a newer release shows the cause. The unit reports it, and starts
// the server again once there are newer packages.
func TestServer_on_newer_file_starts_after_upgrade(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	u := units[0]
	s := c.Raft(u, lab.SB)
	require.NoError(t, u.PowerOff())
	good, err := os.ReadFile(u.DBFile(lab.SB))
	require.NoError(t, err)
	convertByNewer(t, u, lab.SB, s.Term, s.Log.End)
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.RunUpdateStatus(u)
	c.Says(u, "blocked")
	assert.Contains(t, cluster.Commands(c.Finds(u, finding.FileTooNew, "sb"))[0], " openvswitch-common")
	require.True(t, u.Running(lab.NB), "the other database is served")

	// The lab has only one Open vSwitch: a readable file simulates the file of a newer version.
	u.OnCall(func(call string) {
		if strings.Contains(call, "--only-upgrade") {
			assert.NoError(t, os.WriteFile(u.DBFile(lab.SB), good, 0o600))
		}
	})
	c.Offer("99.1.0-1", u)
	c.RunUpdateStatus(u)
	c.Tick("it works", c.AllActive)
}
