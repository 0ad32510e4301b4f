package status_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// Published data may be late, and is no evidence that a unit is lost.
func TestClusters_unit_of_superseded_cluster(t *testing.T) {
	t.Parallel()
	const (
		waits = "warning NOT_IN_NEW_CLUSTER ovn-central/2 Unit=ovn-central/2"
		lost  = waits + " -> " + string(finding.StartMachine) + " -> IF_LOST: remove-unit --force ovn-central/2"
		gone  = waits + " -> UNLESS_IT_RETURNS: remove-unit --force ovn-central/2"
	)
	old := raft.ID("dd000000-0000-4000-8000-000000000000")
	at := func(r *observe.Report, address string) {
		r.Application.Peers = map[string]observe.Peer{
			"ovn-central/2": {State: relation.UnitState{Address: netip.MustParseAddr(address)}},
		}
	}
	for name, c := range map[string]struct {
		change func(r *observe.Report)
		want   []string
	}{
		"just made": {func(*observe.Report) {}, []string{waits}},
		"given up": {
			func(r *observe.Report) { r.Clusters[0].View.GivenUp = []string{"ovn-central/2"} }, []string{gone},
		},
		"other given up": {
			func(r *observe.Report) { r.Clusters[0].View.GivenUp = []string{"ovn-central/4"} }, []string{waits},
		},
		"made earlier": {
			func(r *observe.Report) { r.Clusters[0].View.MadeAt = r.At.Add(-10 * time.Minute) }, []string{lost},
		},
		"paused": {func(r *observe.Report) {
			r.Application.Peers = map[string]observe.Peer{"ovn-central/2": {State: relation.UnitState{Paused: true}}}
			r.Clusters[0].View.MadeAt = r.At.Add(-10 * time.Minute)
		}, []string{waits + " -> ovn-central/2 resume"}},
		"member at address": {
			func(r *observe.Report) { at(r, "10.0.0.12"); r.Clusters[0].View.GivenUp = []string{"ovn-central/2"} }, []string{},
		},
		"members elsewhere": {func(r *observe.Report) { at(r, "10.0.0.19") }, []string{waits}},
	} {
		r := observetest.Three(t).Report()
		for i := range r.Clusters {
			r.Clusters[i].View.Superseded, r.Clusters[i].View.MadeAt = []raft.ID{old}, r.At
		}
		r.Application.Published["ovn-central/2"][ovndb.NB] = relation.Identity{Server: observetest.Full("aa02"), Cluster: old}
		c.change(&r)
		assert.Equal(t, c.want, briefs(status.Clusters(r)), name)
	}
}

// S5: all units are in this unit's cluster, and no unit must be removed.
func TestClusters_supersedes_itself(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	r := s.Report()
	r.Clusters[0].View.SupersedesItself = true
	const remove = `sudo ovn-nbctl --no-leader-only remove NB_Global . external_ids '"ovn-central:superseded"'`
	all := status.Clusters(r)
	assert.Equal(t, []string{"warning REPLACES_ITSELF nb -> ssh ovn-central/0 " + remove}, briefs(all))
	typed := `juju ssh ovn-central/0 '` + strings.ReplaceAll(remove, `'`, `'\''`) + `'`
	assert.Equal(t, typed, r.Application.Version.Render(all[0].Remedies[0].Command))

	r = s.Report()
	for i := range r.Clusters { // as if it had believed the list
		r.Clusters[i].View.Superseded = []raft.ID{observetest.Cluster(r.Clusters[i].Database)}
	}
	for _, f := range status.Clusters(r) {
		assert.NotEqual(t, r.Application.Unit, f.Subject.Name, "a unit never has itself removed")
	}
}

// Each unit is given as the version that it runs, and the versions that it has seen.
func TestClusters_charm_versions(t *testing.T) {
	t.Parallel()
	const again = " -> " + string(finding.RefreshAgain)
	named := func(unit, charm string) string {
		return "warning CHARM_VERSION_DIFFERS " + unit + " Unit=" + unit + " Version=" + charm + again
	}
	for name, c := range map[string]struct {
		own, one, two string
		going         string
		want          []string
	}{
		"all alike":                      {"B", "B", "B", "", []string{}},
		"silent":                         {"B", "B", "A", "", []string{}},
		"silent, has seen an older one":  {"C", "C", "A B", "", []string{}},
		"has run a hook":                 {"B", "B", "A B", "", []string{named("ovn-central/2", "A")}},
		"has run a hook, is removed":     {"B", "B", "A B", "ovn-central/2", []string{}},
		"one has run a hook, one not":    {"B", "A", "A B", "", []string{named("ovn-central/2", "A")}},
		"this unit, the first upgraded":  {"B", "A", "A", "", []string{}},
		"this unit, behind":              {"A", "B A", "B A", "", []string{named("ovn-central/0", "A")}},
		"others were silent":             {"B", "A B", "A B", "", []string{named("ovn-central/0", "B")}},
		"no majority":                    {"B", "A B", "", "", []string{named("ovn-central/1", "A")}},
		"this unit's version is unknown": {"", "A", "B A", "", []string{}},
		"others publish none":            {"B", "", "", "", []string{}},
	} {
		r := observetest.Three(t).Report()
		r.Application.Charm, r.Application.Peers = c.own, map[string]observe.Peer{}
		for unit, text := range map[string]string{"ovn-central/1": c.one, "ovn-central/2": c.two} {
			charm, seen, _ := strings.Cut(text, " ")
			r.Application.Peers[unit] = observe.Peer{State: relation.UnitState{Charm: charm, CharmsSeen: strings.Fields(seen)}}
		}
		if goal, is := r.Application.Goal[c.going]; is {
			goal.Status = "dying"
			r.Application.Goal[c.going] = goal
		}
		assert.Equal(t, c.want, briefs(status.Clusters(r)), name)
	}
}

// If a recovery was requested on another unit, no second request is needed.
func TestClusters_recovery_requested(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[raft.ID]string{
		observetest.Cluster(ovndb.NB):          " -> " + string(finding.AwaitAccept) + " {unit=ovn-central/1}",
		"dd000000-0000-4000-8000-000000000000": quorumAwaits,
	} {
		s := observetest.Three(t)
		s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff()
		r := s.Report()
		r.Application.Peers = map[string]observe.Peer{"ovn-central/1": {State: relation.UnitState{
			Requests: map[ovndb.Database]recovery.Request{ovndb.NB: {Cluster: cluster}},
		}}}
		assert.Equal(t, []string{"error NO_QUORUM nb" + want}, briefs(status.Clusters(r)))
	}
}

// specification is the status from the specification of cluster-status, as ovsdb-server prints it.
const specification = `f3be
Name: OVN_Southbound
Cluster ID: 77eb (77eb6ddc-6910-403b-b8da-ce3d90815183)
Server ID: f3be (f3be898b-e8e4-4719-b344-902444227dd7)
Address: ssl:10.5.1.88:6644
Status: cluster member
Role: follower
Term: 8
Leader: d33d
Vote: d33d

Election timer: 4000
Log: [25, 25]
Entries not yet committed: 0
Entries not yet applied: 0
Connections: ->9ea4 ->fbfc <-fbfc <-9ea4 <-d33d ->d33d
Disconnections: 4
Servers:
    d33d (d33d at ssl:10.5.0.92:6644) last msg 839 ms ago
    9ea4 (9ea4 at ssl:10.5.3.144:6644) last msg 81662711 ms ago
    fbfc (fbfc at ssl:10.5.1.86:6644) last msg 1221658 ms ago
    f3be (f3be at ssl:10.5.1.88:6644) (self)
`

func TestCluster_text_of_specification(t *testing.T) {
	parsed, err := raft.Parse(specification)
	require.NoError(t, err)
	model := observe.Application{
		Unit: "ovn-central/3",
		Goal: map[string]juju.UnitGoal{"ovn-central/0": {}, "ovn-central/1": {Status: "dying"}, "ovn-central/3": {}},
		Published: relation.UnitIdentities{
			"ovn-central/0": {ovndb.SB: {Server: "d33d"}}, "ovn-central/1": {ovndb.SB: {Server: "9ea4"}},
		},
		History: relation.History{ovndb.SB: {"fbfc0000-0000-4000-8000-000000000000": {Unit: "ovn-central/2"}}},
	}
	c := observe.Cluster{
		ServerState: observe.ServerState{Database: ovndb.SB, Condition: ovndb.Serving, Status: parsed},
		View:        raft.View{Status: parsed},
	}
	for _, p := range c.View.Peers() {
		o := model.Owner(ovndb.SB, p)
		c.Rows = append(c.Rows, observe.Row{Peer: p, Owner: o, Leaving: model.Dying(o.Unit)})
	}
	servers := strings.Index(specification, "    d33d")
	assert.Equal(t, specification[:servers]+strings.Join([]string{
		"    d33d (d33d at ssl:10.5.0.92:6644) ovn-central/0",
		"    9ea4 (9ea4 at ssl:10.5.3.144:6644) ovn-central/1 (leaving)",
		"    fbfc (fbfc at ssl:10.5.1.86:6644) UNKNOWN (was ovn-central/2)",
		"    f3be (f3be at ssl:10.5.1.88:6644) (self) UNKNOWN",
	}, "\n"), document.Cluster(c))
}

func TestCluster_text_of_newer_server(t *testing.T) {
	s := observetest.Three(t)
	s.NB.Rows[1].Extra = " (learner)"
	s.NB.Unread = []string{"Snapshot: 7"}
	text := document.Cluster(s.Report().Clusters[0])
	assert.Contains(t, text, "match_index=11 (learner) ovn-central/1\n")
	assert.Contains(t, text, "Snapshot: 7")
}
