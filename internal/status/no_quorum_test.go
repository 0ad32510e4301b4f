package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// A quorum is called lost only if something is known of the other units.
func TestClusters_no_quorum_requires_peers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*observe.Application)
		want   string
	}{
		"peers have published": {func(*observe.Application) {}, "error NO_QUORUM nb" + quorumAwaits},
		"there are no other units": {
			func(m *observe.Application) { m.Goal = goal(m.Unit) }, "error NO_QUORUM nb " + recovers,
		},
		"Juju is silent, peers remembered": {
			func(m *observe.Application) { m.Goal, m.Relations = nil, nil }, "error NO_QUORUM nb" + quorumAwaits,
		},
		"there is no relation yet": {func(m *observe.Application) {
			m.Relations, m.Published = nil, relation.UnitIdentities{m.Unit: m.Published[m.Unit]}
		}, "waiting PEERS_UNKNOWN nb"},
		"no relation and no other unit": {
			func(m *observe.Application) { m.Goal, m.Relations, m.Published = goal(m.Unit), nil, nil },
			"waiting PEERS_UNKNOWN nb",
		},
		"peers have published nothing": {func(m *observe.Application) {
			m.Published = relation.UnitIdentities{m.Unit: m.Published[m.Unit], "ovn-central/1": {}}
			m.Peers = map[string]observe.Peer{
				"ovn-central/1": {Data: relation.Read(map[string]string{"private-address": "10.0.0.11"})},
			}
		}, "waiting PEERS_UNKNOWN nb"},
	} {
		s := observetest.Three(t)
		s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff()
		r := s.Report()
		c.change(&r.Application)
		assert.Equal(t, c.want, briefs(findingsOf(r))[0], name)
	}
}

// A follower that knows a leader but can ask no other server (no certificate, a closed port) does not know how many
// members are up.
func TestClusters_follower_without_answers(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	c := s.Cluster(ovndb.SB, s.SB)
	c.View.Probes = nil
	c.Quorum = c.View.Quorum()
	r := s.Report()
	r.Clusters[1] = c
	assert.False(t, finding.Has(status.Clusters(r), finding.NoQuorum))
}

// If a unit has published why its servers don't answer, its machine need not be started.
func TestClusters_no_quorum_cause_is_published(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02").CutOff(), observetest.Up("bb00").Down("bb01", "bb02").CutOff()
	r := s.Report()
	r.Application.Peers = map[string]observe.Peer{
		"ovn-central/1": {State: relation.UnitState{Paused: true}},
		"ovn-central/2": {State: relation.UnitState{DiskFull: true}},
	}
	assert.Equal(t, []string{"error NO_QUORUM nb sb -> ovn-central/1 resume {unit=ovn-central/1} -> " +
		string(finding.MakeSpaceOn) + " {unit=ovn-central/2} -> IF_THIS_LASTS: ovn-central/0 recover dry-run=true"},
		briefs(findingsOf(r))[:1])
	damaged := relation.UnitState{Unusable: map[ovndb.Database]bool{ovndb.NB: true, ovndb.SB: true}}
	peers := map[string]observe.Peer{"ovn-central/1": {State: damaged}, "ovn-central/2": {State: damaged}}
	r.Application.Peers = peers
	lost := []string{"error NO_QUORUM nb sb -> ovn-central/0 recover dry-run=true"}
	assert.Equal(t, lost, briefs(findingsOf(r))[:1])

	s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02"), observetest.Up("bb00").Down("bb01", "bb02")
	r = s.Report()
	r.Application.Peers = peers
	assert.Equal(t, lost, briefs(findingsOf(r))[:1], "the server has not given up the leadership yet")
}
