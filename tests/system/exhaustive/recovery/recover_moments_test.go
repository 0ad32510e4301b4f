package recovery

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// amid is a recovery whose events the test triggers, of two of five units: the asked one, and the leader.
type amid struct {
	*labtest.Model
	asked, leads *lab.Unit
	lost         []*lab.Unit
}

// moments are those at which old members return, and the result if a majority does: an unpublished cluster is dropped.
var moments = []struct {
	name      string
	come      func(a amid)
	majority  end
	oneReturn end
	// seldom are played only if more is explored, of a majority and of a single unit: each takes a minute.
	majoritySeldom, oneSeldom bool
}{
	{"before it is asked for", func(amid) {}, refused, refused, true, true}, // with one more there is a quorum
	{"after the servers were stopped", amid.stops, withdrawn, superseded, false, false},
	{"after the new cluster was made", amid.makes, withdrawn, superseded, false, true},
	{"after its ID was published", amid.publishes, superseded, superseded, false, true},
}

type end string

const (
	refused    end = "refused"
	withdrawn  end = "withdrawn"
	superseded end = "superseded"
)

// between deploys n units. All but the asked one and the leader will be lost.
func between(t *testing.T, n int) amid {
	t.Helper()
	m := labtest.DeployWith(t, n, lab.Options{JujuVersion: lab.Juju3})
	require.NoError(t, m.SetLeader(t.Context(), m.Deployed[1]))
	return amid{Model: m, asked: m.Deployed[0], leads: m.Deployed[1], lost: m.Deployed[2:]}
}

// lose adds a switch, powers the lost units off, and holds further hooks back.
func (a amid) lose(kept string) {
	a.T.Helper()
	a.AddSwitch(kept, a.asked, a.leads)
	a.Lose(a.lost...)
	a.RunUpdateStatus(a.asked, a.leads)
	a.Hold(true)
}

func (a amid) give() string { return "give-up=" + labtest.Names(a.lost) }

// hooks runs hooks of one unit only, until it has done its part for both databases.
func (a amid) hooks(u *lab.Unit, what string, done func(db lab.DB, short string) bool) {
	a.T.Helper()
	ended := a.Within(labtest.Patience, func() bool {
		for len(a.Pending(u)) > 0 {
			_, err := a.Deliver(a.T.Context(), u)
			require.NoError(a.T, err)
		}
		require.NoError(a.T, a.RunHook(a.T.Context(), u, "update-status"))
		return done(lab.NB, "nb") && done(lab.SB, "sb")
	})
	require.True(a.T, ended, "%s of %s: %s; %s: %s", what, u.Name(), u.Workload().Message, a.asked.Name(), a.asked.Workload().Message)
}

func (a amid) made(short string) bool {
	return strings.Contains(a.asked.Data()[short+"-recovery"], `"new"`)
}

func (a amid) stops() {
	a.T.Helper()
	a.T.Log(a.Act(a.asked, "recover", a.give(), "i-really-mean-it=true"))
	for _, db := range lab.Databases {
		require.True(a.T, a.asked.Running(db) && a.leads.Running(db), "nothing is stopped before Juju's leader accepts it")
	}
	a.hooks(a.leads, "its servers are stopped", func(db lab.DB, _ string) bool { return !a.leads.Running(db) })
	require.False(a.T, a.made("nb") || a.made("sb"), "the premise")
}

func (a amid) makes() {
	a.T.Helper()
	a.stops()
	a.hooks(a.asked, "new clusters are made", func(_ lab.DB, short string) bool { return a.made(short) })
}

func (a amid) publishes() {
	a.T.Helper()
	a.makes()
	before := a.LeaderSettings()
	a.hooks(a.leads, "their IDs are published", func(_ lab.DB, short string) bool {
		return a.LeaderSettings()[short+"_cid"] != before[short+"_cid"]
	})
	require.False(a.T, a.asked.Running(lab.NB), "the premise: nothing serves the new one")
}

// A majority returns at each moment of a recovery: never are two clusters served, and all end in one.
func TestRecover_returning_majority_withdraws_or_is_superseded(t *testing.T) {
	returnsAtEachMoment(t, 3)
}

// A unit that returns alone does not prevent the end of a recovery.
func TestRecover_returning_member_joins(t *testing.T) {
	returnsAtEachMoment(t, 1)
}

func returnsAtEachMoment(t *testing.T, n int) {
	t.Helper()
	a := between(t, 5)
	ended := a.WatchServed()
	for i, moment := range moments {
		if seldom := map[int]bool{1: moment.oneSeldom, 3: moment.majoritySeldom}[n]; seldom && exploretest.Factor(t) == 1 {
			continue
		}
		begun := time.Now()
		kept := "kept-" + labtest.Names(a.Deployed[i:i+1])
		old := a.Raft(a.asked, lab.NB)
		a.lose(kept)
		moment.come(a)
		a.PowerOn(a.lost[:n]...)
		want := map[int]end{1: moment.oneReturn, 3: moment.majority}[n]
		a.finish(n, want)
		now := a.Raft(a.asked, lab.NB)
		if t.Logf("%s: %s, after %s", moment.name, want, time.Since(begun).Round(time.Second)); want == refused || want == withdrawn {
			assert.Equal(t, old.Cluster, now.Cluster, moment.name)
		} else {
			assert.NotEqual(t, old.Cluster, now.Cluster, moment.name)
		}
		for _, u := range a.Deployed {
			assert.Contains(t, a.Seen(u), kept, "%s: %s", moment.name, u.Name())
		}
	}
	ended()
	a.RequireWritable()
}

// finish lets everything run after n lost units have returned, a majority with the old cluster, and boots the others.
func (a amid) finish(n int, want end) {
	a.T.Helper()
	ctx := a.T.Context()
	for _, db := range lab.Databases {
		if n == 1 && want == superseded {
			break
		}
		member := a.lost[0]
		if want == refused {
			member = a.asked
		}
		a.Eventually("the premise: the old cluster is served", func() bool { return a.HasLeader(member, db) })
	}
	if want == refused {
		r, err := a.RunAction(ctx, a.asked, "recover", a.give(), "i-really-mean-it=true")
		require.NoError(a.T, err)
		require.Equal(a.T, "failed", r.Status, r.Results)
	}
	a.Hold(false)
	require.NoError(a.T, a.Settle(ctx))
	back, off := a.lost[:n], a.lost[n:]
	if want == superseded {
		on := append([]*lab.Unit{a.asked, a.leads}, back...)
		a.Tick("those that are on are members", labtest.AllMembers(a.Model, on...), on...)
	}
	a.PowerOn(off...)
	a.Tick("all are members", labtest.AllMembers(a.Model, a.Deployed...), a.Deployed...)
	require.False(a.T, a.made("nb") || a.made("sb"), "no request is left that could still be published")
}

// A unit makes a new cluster and is lost before the cluster is published. The cluster does not replace the old one,
// as no unit could start it. The leader reports that and is asked itself, and the lost unit stays out when it
// returns.
func TestRecover_unpublished_new_cluster_stays_out(t *testing.T) {
	a := between(t, 4)
	m, ended := a.Model, a.WatchServed()
	a.lose("kept")
	a.makes()
	before := m.LeaderSettings()
	m.PowerOff(a.asked)
	a.hooks(a.leads, "it says what it waits for", func(lab.DB, string) bool {
		return m.Findings(a.leads).Has(finding.RecoveryUnanswered, "")
	})
	t.Log(a.leads.Workload().Message)
	require.Equal(t, before, m.LeaderSettings(), "nothing is published")
	r, err := m.RunAction(t.Context(), a.leads, "recover", "give-up="+labtest.Names(a.lost), "i-really-mean-it=true", "format=json")
	require.NoError(t, err)
	require.Equal(t, "failed", r.Status, r.Results)
	refused, err := cluster.ReadFindings(r.Results["findings"])
	require.NoError(t, err)
	assert.True(t, refused.Has(finding.RecoveryRunsElsewhere, ""), refused)
	t.Log(m.Act(a.leads, "recover", "give-up="+labtest.Names(append([]*lab.Unit{a.asked}, a.lost...)), "i-really-mean-it=true"))
	m.Hold(false)
	m.Tick("a new cluster", labtest.AllMembers(m, a.leads), a.leads)
	now := m.LeaderSettings()
	m.PowerOn(append([]*lab.Unit{a.asked}, a.lost...)...)
	m.Tick("all join it", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	ended()
	for _, key := range []string{"nb_cid", "sb_cid"} {
		assert.Equal(t, now[key], m.LeaderSettings()[key])
	}
	for _, u := range m.Deployed {
		assert.Contains(t, m.Seen(u), "kept")
		assert.Len(t, m.PutAway(u), 2, "the old files of %s", u.Name())
		assert.Len(t, m.InPlace(u), 2, "%s has no cluster of its own", u.Name())
	}
	m.RequireWritable()
}
