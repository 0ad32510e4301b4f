package membership_test

import (
	"crypto/sha1"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		refused   int // the members
	}{
		"two, the other stays":    {file: clustered("aa00", "aa01"), goal: "active", refused: 2},
		"three, no other answers": {file: clustered("aa00", "aa01", "aa02"), goal: "active", refused: 3},
		"two, it gave its database up": {
			file: clustered("aa00", "aa01"), condition: ovndb.Failed, goal: "active", refused: 2,
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
			next := finding.Do(command.Command{Unit: s.Unit, Action: "resume"})
			var told []string
			if test.condition == ovndb.Failed {
				s.NB.Condition = test.condition
				next, told = finding.ByHand(finding.AwaitServer), []string{"systemctl restart ovn-ovsdb-server-nb"}
			}
			m := new(observetest.Machine)
			service := on(s, m)
			require.NoError(t, os.WriteFile(service.Files.Paths.File(ovndb.NB), []byte(test.file), 0o600))
			cache := observe.Cache{}
			if test.removed {
				cache.History = relation.History{ovndb.NB: {observetest.Full("aa00"): {Unit: "ovn-central/0", Removed: observetest.Now}}}
			}
			_, err := service.Stop(t.Context(), s.Application(), cache)
			if test.refused == 0 {
				require.NoError(t, err)
				assert.Equal(t, stops, m.Told)
				return
			}
			require.Equal(t, []string{"nb SERVER_NEEDED"}, findingtest.Codes(err))
			f := finding.Reasons(err)[0]
			assert.Equal(t, finding.Tally{Members: test.refused}, f.Args.After)
			assert.Equal(t, next, f.Remedies[0])
			assert.Equal(t, finding.If(finding.ToLeaveBehind, command.Resolved(s.Unit, true)), f.Remedies[2])
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
	require.Equal(t, finding.Tally{Members: 2}, finding.Reasons(err)[0].Args.After)
}
