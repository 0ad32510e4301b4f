package membership_test

import (
	"crypto/sha1"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// clustered is the file of server aa00 of a cluster with these members, none of which
// answers on its client port.
func clustered(identities ...string) string {
	members := make([]string, len(identities))
	for i, identity := range identities {
		members[i] = fmt.Sprintf(`"%s":"tcp:127.255.255.%d:6643"`, observetest.Full(identity), i+1)
	}
	text := fmt.Sprintf(`{"server_id":"%s","local_address":"tcp:127.255.255.1:6643","name":"OVN_Northbound","prev_index":1,"prev_term":1,"prev_servers":{%s}}`+"\n",
		observetest.Full("aa00"), strings.Join(members, ","))
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text)
}

// R1, R9: a member that does not run stays while the others are no majority without it:
// they could commit nothing any more, not even its removal.
func TestR1ServerThatIsDownStaysWhereTheOthersAreNoMajorityWithoutIt(t *testing.T) {
	damaged := clustered("aa00", "aa01") + strings.Replace(clustered("aa00"), "{", "[", 1) + clustered("aa00")
	tests := map[string]struct {
		file      string
		condition ovndb.Condition
		goal      string
		removed   bool
		refused   string
	}{
		"two, the other stays":    {file: clustered("aa00", "aa01"), goal: "active", refused: "0 of 2 up, 2 needed; the server is not running"},
		"three, no other answers": {file: clustered("aa00", "aa01", "aa02"), goal: "active", refused: "0 of 3 up, 2 needed; the server is not running"},
		"two, it gave its database up": {
			file: clustered("aa00", "aa01"), condition: ovndb.Failed, goal: "active", refused: "0 of 2 up, 2 needed; the server runs but has given up",
		},
		"two, no other unit stays":     {file: clustered("aa00", "aa01"), goal: "dying"},
		"two, the other has kicked it": {file: clustered("aa00", "aa01"), goal: "active", removed: true},
		"its own removal was stored":   {file: clustered("aa01"), goal: "active"},
		"no server starts on the file": {file: damaged, goal: "active"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := going(t)
			s.Goal = map[string]string{"ovn-central/0": "dying", "ovn-central/1": test.goal}
			s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Absent}
			command := "juju run ovn-central/0 resume"
			next := "start it again: " + command
			var told []string
			if test.condition == ovndb.Failed {
				s.NB.Condition, command = test.condition, ""
				next, told = "its server had given up the database and was restarted: wait", []string{"systemctl restart ovn-ovsdb-server-nb"}
			}
			m := new(observetest.Machine)
			service := on(s, m)
			require.NoError(t, os.WriteFile(service.Files.Paths.File(ovndb.NB), []byte(test.file), 0o600))
			cache := observe.Cache{}
			if test.removed {
				cache.History = relation.History{ovndb.NB: {observetest.Full("aa00"): {Unit: "ovn-central/0", Removed: observetest.Now}}}
			}
			_, err := service.Stop(t.Context(), s.Application(), cache)
			if test.refused == "" {
				require.NoError(t, err)
				assert.Equal(t, stops, m.Told)
				return
			}
			refused := (*membership.RefusedError)(nil)
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, raft.NoQuorum, refused.Refusals[0].Reason)
			assert.Equal(t, command, refused.Command)
			require.ErrorContains(t, err, "nb: without this unit's server the others are no majority: "+test.refused)
			require.ErrorContains(t, err, "next: "+next+"\n")
			require.ErrorContains(t, err, "juju resolved --no-retry ovn-central/0")
			assert.Equal(t, told, m.Told, "else nothing is touched")
		})
	}
}

// R1: what other units still publish of a cluster that was given up in a recovery are no members
// of the one in its place.
func TestR1ServersOfAClusterThatWasGivenUpAreNotCounted(t *testing.T) {
	s := going(t)
	s.Goal = map[string]string{"ovn-central/0": "dying", "ovn-central/1": "active"}
	s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Absent}
	service := on(s, new(observetest.Machine))
	members := map[raft.ID]string{}
	for i, identity := range []string{"aa00", "aa01"} {
		members[observetest.Full(identity)] = fmt.Sprintf("tcp:127.255.255.%d:6643", i+1)
	}
	text := observetest.FileOf(ovndb.NB, observetest.Full("aa00"), observetest.Cluster(ovndb.NB), members)
	require.NoError(t, os.WriteFile(service.Files.Paths.File(ovndb.NB), text, 0o600))
	model := s.Application()
	model.Published["ovn-central/1"] = relation.Identities{
		ovndb.NB: {Server: observetest.Full("01d1"), Cluster: "01d00000-0000-4000-8000-000000000000", Since: 3},
	}
	_, err := service.Stop(t.Context(), model, observe.Cache{})
	require.ErrorContains(t, err, "0 of 2 up, 2 needed")
}
