package membership

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R3: two members whose IDs begin with the same four digits.
func TestKick_ambiguous_identity_is_refused(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	twins := addTwins(m)
	require.NoError(t, m.Settle(t.Context()))
	short := m.ShortID(twins[0], lab.NB)
	require.Equal(t, short, m.ShortID(twins[1], lab.NB))
	m.RemoveByForce(twins[1])
	m.Eventually("a leader that misses it", func() bool {
		gone, is := m.Findings(m.LeaderOf(lab.NB)).Find(finding.StaleMember, "")
		return is && strings.Contains(gone.Message, short+" at ssl:"+twins[1].Address()+":6643, down")
	})
	for _, from := range []*lab.Unit{m.LeaderOf(lab.NB), m.Followers()[0]} {
		said := m.Refuse(from, "kick", labtest.KickArgs("", short, "force=true")...)
		assert.Contains(t, said, labtest.Reason(finding.MemberAmbiguous, finding.Args{Value: short, Count: 2}))
		assert.Contains(t, said, " cluster-status cluster-status-format=yaml")
	}
	assert.Len(t, m.MemberIDs(m.LeaderOf(lab.NB), lab.NB), 5)
	r := m.Act(m.LeaderOf(lab.NB), "kick", labtest.KickArgs("", m.ServerID(twins[1], lab.NB))...)
	assert.Contains(t, r["ovnnb"], "removed: "+short)
	s := m.Raft(m.LeaderOf(lab.NB), lab.NB)
	assert.Len(t, s.Servers, 4)
	for _, row := range s.Servers {
		assert.NotContains(t, row.Address, twins[1].Address()+":", "the right one went")
	}
}

// addTwins adds two units whose Northbound servers share a short ID, from a few hundred files (birthday paradox).
func addTwins(m *labtest.Model) [2]*lab.Unit {
	m.T.Helper()
	var twins [2]*lab.Unit
	var files [2]map[string]string
	s := m.Raft(m.LeaderOf(lab.NB), lab.NB)
	for i := range twins {
		twins[i] = m.AddSilent()
		files[i] = map[string]string{}
	}
	serverID := regexp.MustCompile(`"server_id":"([0-9a-f]{4})`)
	for n := 0; ; n++ {
		u := twins[n%2]
		path := filepath.Join(u.DBDir(), fmt.Sprintf("try-%d", n))
		_, err := u.Exec(m.T.Context(), "ovsdb-tool", "--cid="+string(*s.Cluster), "join-cluster", path,
			lab.NB.Schema(), "ssl:"+u.Address()+":6643", s.Address)
		require.NoError(m.T, err)
		text, err := os.ReadFile(path)
		require.NoError(m.T, err)
		found := serverID.FindSubmatch(text)
		require.NotNil(m.T, found)
		files[n%2][string(found[1])] = path
		other, match := files[1-n%2][string(found[1])]
		if !match {
			continue
		}
		require.NoError(m.T, os.Rename(path, u.DBFile(lab.NB)))
		require.NoError(m.T, os.Rename(other, twins[1-n%2].DBFile(lab.NB)))
		break
	}
	for _, u := range twins {
		require.NoError(m.T, u.Start(m.T.Context(), lab.NB))
		m.Eventually("a member", func() bool {
			s, err := m.RaftStatus(u, lab.NB)
			return err == nil && s.State == raft.ClusterMember
		})
	}
	return twins
}
