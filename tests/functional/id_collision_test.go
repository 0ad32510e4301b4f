package functional

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// R3: two members whose IDs begin with the same four digits.
func TestKickOfAnAmbiguousIdentityIsRefused(t *testing.T) {
	m := deploy(t, 3)
	twins := m.addTwins()
	require.NoError(t, m.Settle(t.Context()))
	short := m.short(twins[0], lab.NB)
	require.Equal(t, short, m.short(twins[1], lab.NB))
	m.vanish(twins[1])
	m.eventually("a leader that misses it", func() bool {
		r, err := m.RunAction(t.Context(), m.leader(lab.NB), "cluster-status")
		require.NoError(t, err)
		return regexp.MustCompile(`nb: ` + short + `.* is down`).MatchString(r.Results["warnings"])
	})
	for _, from := range []*lab.Unit{m.leader(lab.NB), m.followers()[0]} {
		said := m.refuse(from, kickArgs("", short, "force=true")...)
		assert.Contains(t, said, short+" can mean any of "+short)
		assert.Contains(t, said, "give the whole ID")
	}
	assert.Len(t, m.members(m.leader(lab.NB), lab.NB), 5)
	r := m.act(m.leader(lab.NB), "kick", kickArgs("", m.id(twins[1], lab.NB))...)
	assert.Contains(t, r["ovnnb"], "removed: "+short)
	s, err := m.status(m.leader(lab.NB), lab.NB)
	require.NoError(t, err)
	assert.Len(t, s.Servers, 4)
	for _, row := range s.Servers {
		assert.NotContains(t, row.Address, twins[1].Address()+":", "the right one went")
	}
}

// addTwins adds two units whose Northbound servers share their identity, by making
// files until two of them do: of a few hundred, by the birthday paradox.
func (m *model) addTwins() [2]*lab.Unit {
	m.t.Helper()
	var twins [2]*lab.Unit
	var files [2]map[string]string
	s, err := m.status(m.leader(lab.NB), lab.NB)
	require.NoError(m.t, err)
	for i := range twins {
		twins[i] = m.addSilent()
		files[i] = map[string]string{}
	}
	serverID := regexp.MustCompile(`"server_id":"([0-9a-f]{4})`)
	for n := 0; ; n++ {
		u := twins[n%2]
		path := filepath.Join(u.DBDir(), fmt.Sprintf("try-%d", n))
		_, err := u.Exec(m.t.Context(), "ovsdb-tool", "--cid="+string(*s.Cluster), "join-cluster", path,
			lab.NB.Schema(), "ssl:"+u.Address()+":6643", s.Address)
		require.NoError(m.t, err)
		text, err := os.ReadFile(path)
		require.NoError(m.t, err)
		found := serverID.FindSubmatch(text)
		require.NotNil(m.t, found)
		files[n%2][string(found[1])] = path
		other, match := files[1-n%2][string(found[1])]
		if !match {
			continue
		}
		require.NoError(m.t, os.Rename(path, u.DBFile(lab.NB)))
		require.NoError(m.t, os.Rename(other, twins[1-n%2].DBFile(lab.NB)))
		break
	}
	for _, u := range twins {
		require.NoError(m.t, u.Start(m.t.Context(), lab.NB))
		m.eventually("a member", func() bool {
			s, err := m.status(u, lab.NB)
			return err == nil && s.State == raft.ClusterMember
		})
	}
	return twins
}
