package soak

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// A member that is cut off goes to later terms by itself, and knows an old configuration.
func TestObserve_by_leader_or_longest_committed_log(t *testing.T) {
	t.Parallel()
	status := func(role raft.Role, term, end, open uint64) raft.Status {
		return raft.Status{Server: "a", Role: role, Term: term, Log: raft.Log{End: end}, NotCommitted: open}
	}
	for name, c := range map[string]struct{ more, less raft.Status }{
		"any":                    {status(raft.Candidate, 1, 5, 0), raft.Status{}},
		"a leader":               {status(raft.Leader, 3, 20, 0), status(raft.Candidate, 9, 20, 0)},
		"the later leader":       {status(raft.Leader, 4, 20, 0), status(raft.Leader, 3, 25, 5)},
		"not the one cut off":    {status(raft.Candidate, 3, 20, 0), status(raft.Candidate, 9, 12, 0)},
		"not what may be undone": {status(raft.Follower, 3, 20, 0), status(raft.Candidate, 3, 22, 10)},
		"else the later term":    {status(raft.Follower, 4, 20, 0), status(raft.Follower, 3, 20, 0)},
	} {
		assert.True(t, better(c.more, c.less), name)
		assert.False(t, better(c.less, c.more), name)
	}
}

// After a recovery the new cluster begins at term 1, beside old servers with a later term and a longer log.
func TestObserve_new_cluster_beside_superseded_later_term(t *testing.T) {
	t.Parallel()
	old, current := raft.ID("old"), raft.ID("new")
	answers := []raft.Status{
		{Server: "aaaa", Cluster: old, Role: raft.Leader, Term: 9, Log: raft.Log{End: 90}},
		{Server: "bbbb", Cluster: current, Role: raft.Leader, Term: 1, Log: raft.Log{End: 3}},
		{Server: "cccc", Cluster: old, Role: raft.Follower, Leader: "aaaa", Term: 9},
		{Server: "dddd"},
	}
	found := ofCluster(answers, current)
	assert.Equal(t, []raft.ID{"bbbb", "dddd"}, []raft.ID{found[0].Server, found[1].Server})
	assert.Len(t, ofCluster(answers, ""), 4, "before the application has a cluster")
	assert.True(t, follows(answers[2], "aaaa"))
	assert.True(t, follows(answers[0], "aaaa"))
	assert.False(t, follows(answers[1], "aaaa"))

	w := &world{last: map[lab.DB][]raft.Member{}, lastOf: map[lab.DB]raft.ID{}}
	w.rows(lab.NB, old, []raft.Member{{Short: "aaaa"}, {Short: "cccc"}})
	assert.Len(t, w.rows(lab.NB, old, nil), 2, "no server can be asked: the servers are taken for those of before")
	assert.Empty(t, w.rows(lab.NB, current, nil), "the members of the old cluster are not those of the new one")
}

func TestObserve_member_down_is_attributed_to_fault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults                      map[string]int
		running, cannotVote, paused bool
		want                        Why
	}{
		"none":                                {nil, true, false, false, Up},
		"none, and it does not run":           {nil, false, false, false, Ours},
		"paused":                              {nil, false, false, true, Asked},
		"of this step":                        {map[string]int{"cut": 7}, true, false, false, New},
		"of an older one":                     {map[string]int{"cut": 6}, true, false, false, Standing},
		"of both":                             {map[string]int{"cut": 6, "power-off": 7}, false, false, false, Standing},
		"of the other database":               {map[string]int{"hang sb": 6}, true, false, false, Up},
		"its file is destroyed":               {map[string]int{"destroy nb": 7}, false, false, false, New},
		"it was, and it has joined anew":      {map[string]int{"destroy nb": 6}, true, false, false, Up},
		"killed, and started again":           {map[string]int{"kill nb": 6}, true, false, false, Up},
		"killed, started again, and paused":   {map[string]int{"kill nb": 6}, false, false, true, Asked},
		"a full disk may take it":             {map[string]int{"full": 6}, true, false, false, Standing},
		"a full disk had not taken it":        {map[string]int{"full": 6, "power-off": 7}, false, false, false, New},
		"what it lost on one is seen later":   {map[string]int{"was full": 6}, false, false, false, Standing},
		"it could not store its vote on one":  {map[string]int{"was full": 6}, true, true, false, Standing},
		"it can't be asked whether it can":    {map[string]int{"was full": 6, "lose-socket nb": 7}, true, true, false, New},
		"it can't vote without a fault":       {nil, true, true, false, Up},
		"what it lost on one is not seen yet": {map[string]int{"was full": 6}, true, false, false, Up},
	} {
		assert.Equal(t, c.want, whyDown(c.faults, 7, lab.NB, c.running, c.cannotVote, c.paused), name)
	}
}

func TestObserve_quorum_lost_by_faults(t *testing.T) {
	t.Parallel()
	of := func(leads bool, whys ...Why) bool {
		v := view{leads: leads}
		for _, why := range whys {
			v.members = append(v.members, member{why: why})
		}
		return v.lostByFaults()
	}
	assert.True(t, of(false, Up, Standing, New))
	assert.False(t, of(true, Up, Standing, New), "it has not noticed yet, or the faults have passed")
	assert.False(t, of(false, Up, Up, Standing), "a majority is up")
	assert.False(t, of(false, Up, Standing, Ours), "the charm has stopped one")
	assert.False(t, of(false), "no server is known")
}

func TestObserve_server_lacks_entries_in_its_file(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lacks := func(end uint64) bool { return lacksEntries(t.Context(), dir, lab.NB, end) }
	assert.False(t, lacks(7), "there is no file to compare")
	file := filepath.Join(dir, "ovnnb_db.db")
	require.NoError(t, os.WriteFile(file, observetest.FileUpTo(5, ovndb.NB, "aaaa", "cccc", nil), 0o600))
	assert.False(t, lacks(6))
	assert.True(t, lacks(7))
}

func ofThree(cluster raft.ID, id raft.ID, leader raft.Ref) raft.Status {
	s := raft.Status{
		Cluster: cluster, Server: id, State: raft.ClusterMember, Role: raft.Follower, Leader: leader,
		Servers: make([]raft.Member, 3),
	}
	if leader == raft.Self {
		s.Role = raft.Leader
	}
	return s
}

func TestServed_leader_with_majority(t *testing.T) {
	t.Parallel()
	leader := server{unit: "u0", cluster: "c", status: ofThree("c", "aaaa", raft.Self)}
	follower := server{unit: "u1", cluster: "c", status: ofThree("c", "bbbb", "aaaa")}
	alone := server{unit: "u1", cluster: "c", status: ofThree("c", "bbbb", raft.UnknownRef)}
	other := server{unit: "u2", cluster: "d", status: ofThree("d", "cccc", "aaaa")}
	assert.Equal(t, []raft.ID{"c"}, sighting{servers: []server{leader, follower}}.served())
	assert.Empty(t, sighting{servers: []server{leader, alone, other}}.served(), "it was cut off, and has not noticed")
	assert.Empty(t, sighting{servers: []server{follower}}.served())
}

func TestExcuse_two_clusters_only_if_old_could_not_ask(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	run := func(unit string, cluster, id raft.ID, leader raft.Ref, began int) server {
		s := server{unit: unit, cluster: cluster, status: ofThree(cluster, id, leader), began: second(began)}
		s.status.Servers = s.status.Servers[:2]
		return s
	}
	look := func(n, oldBegan, newBegan int) sighting {
		return sighting{at: second(n), current: "new", servers: []server{
			run("u0", "old", "aaaa", raft.Self, oldBegan), run("u1", "old", "bbbb", "aaaa", oldBegan),
			run("u2", "new", "cccc", raft.Self, newBegan), run("u3", "new", "dddd", "cccc", newBegan),
		}}
	}
	h := history{answer: 5 * time.Second}
	h.add(look(100, 60, 90))
	assert.Empty(t, h.seen(), "one look may have seen an end and a beginning")
	h.add(look(101, 60, 90))
	assert.Len(t, h.seen(), 1)
	assert.Empty(t, h.broken(time.Minute), "the old one was there before")
	assert.NotEmpty(t, h.broken(time.Millisecond), "it does not end")

	h = history{answer: 5 * time.Second}
	h.add(look(100, 96, 90))
	h.add(look(101, 96, 90))
	assert.Regexp(t, ` u0 .* 00:01:36, .* u2\b`, h.broken(time.Minute))

	h = history{answer: 5 * time.Second}
	h.add(look(100, 93, 90))
	h.add(look(101, 93, 90))
	assert.Empty(t, h.broken(time.Minute), "it was asked before it could answer")
}

func TestExcuse_only_writes_of_superseded_cluster(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }
	one := func(cluster raft.ID) sighting {
		s := ofThree(cluster, "aaaa", raft.Self)
		s.Servers = s.Servers[:1]
		return sighting{current: cluster, servers: []server{{unit: "u0", cluster: cluster, status: s}}}
	}
	h := history{}
	for n, cluster := range []raft.ID{"old", "old", "new", "new", "new"} {
		s := one(cluster)
		s.at = minute(n)
		s.servers[0].began = minute(map[raft.ID]int{"old": 0, "new": 2}[cluster])
		h.add(s)
	}
	assert.Equal(t, minute(1), h.lastServed("old"))
	assert.True(t, h.excuses(minute(1), "new"), "the old cluster acknowledged it")
	assert.False(t, h.excuses(minute(4), "new"), "the new one did")
	assert.False(t, h.excuses(minute(1), "old"), "no cluster was given up")
}

func TestRows_of_majority_of_copies_are_kept(t *testing.T) {
	t.Parallel()
	a, b, c := map[string]bool{"x": true, "y": true}, map[string]bool{"x": true, "z": true}, map[string]bool{"z": true}
	assert.Equal(t, a, inMajority([]map[string]bool{a}))
	assert.Equal(t, map[string]bool{"x": true}, inMajority([]map[string]bool{a, b}))
	assert.Equal(t, map[string]bool{"x": true, "z": true}, inMajority([]map[string]bool{a, b, c}))
}

// The commands in the log of a refused stop are typed, but overrides and those with a condition.
func TestWayOut_commands_are_typed_unless_conditional(t *testing.T) {
	t.Parallel()
	output := `INFO nb: still a member, nothing was changed
ERROR cannot finish hook stop: nb: no unit that stays has joined
ERROR next: juju run ovn-central/0 resume
ERROR next: if ovn-central/1 knows a leader, this unit is cut off: juju run ovn-central/1 kick unit=ovn-central/0
ERROR next: start the machine of ovn-central/2
ERROR next: if ovn-central/2 is lost for good: juju remove-unit --force ovn-central/2; juju add-unit ovn-central
ERROR next: to remove the unit all the same, and leave its members behind: juju resolved --no-retry ovn-central/0
ERROR next: juju run ovn-central/0 resume
`
	found := ways(output)
	assert.Len(t, found, 1)
	assert.Equal(t, []string{"juju run ovn-central/0 resume"}, commands(found[0]))
}

func TestWayOut_commands_are_found(t *testing.T) {
	t.Parallel()
	line := "nb: x; run: juju add-unit ovn-central; juju remove-unit ovn-central/0"
	assert.Equal(t, []string{"juju add-unit ovn-central", "juju remove-unit ovn-central/0"}, commands(line))
	assert.Empty(t, commands("run action kick"))
	assert.Equal(t, []string{`nb-identity="1234"`, "force=true"}, unquoted([]string{`nb-identity='"1234"'`, "force=true"}))
}

// The player reads the product's documents: the units of a finding, and the command under a condition.
func TestWayOut_recovery_finding_is_read(t *testing.T) {
	t.Parallel()
	s := recovery.State{Database: ovndb.NB, Unit: "ovn-central/0", Cluster: "c", Own: &recovery.Copy{Cluster: "c"}, Members: []recovery.Member{
		{ID: "aaaa0000", Unit: "ovn-central/0", Exists: true}, {ID: "bbbb0000", Unit: "ovn-central/1"}, {ID: "cccc0000"},
	}}
	docs := present.Documents(juju.Version{Major: 3}, s.Judge(recovery.Request{Cluster: "c"}).Refusals)
	assert.Len(t, docs, 1)
	assert.Equal(t, string(finding.RecoveryMayReturn), docs[0].Code)
	assert.Equal(t, []string{"cccc0000", "ovn-central/1"}, named(docs[0]))
	line := under(docs[0], finding.IfOff)
	assert.Equal(t, map[string]string{"give-up": "cccc0000,ovn-central/1", "dry-run": "true"}, parameters(line))
	assert.Empty(t, under(docs[0], finding.IfLost))
	assert.Empty(t, insists(docs))
	once := recovery.Request{}.Command("ovn-central/0", nil)
	once.Params = append(once.Params, command.Param{Key: "again", Value: "20260102T030405Z"})
	ended := finding.Of(finding.RecoveryEnded, ovndb.NB, finding.Args{}, finding.If(finding.IfSinceLost, once))
	assert.Equal(t, "20260102T030405Z", insists(present.Documents(juju.Version{Major: 3}, []finding.Finding{ended})))
	both := finding.New(finding.RecoveryNewerData, finding.Subject{Databases: ovndb.Databases(), Name: "ovn-central/2"}, finding.Args{})
	assert.Equal(t, []string{"ovn-central/2"}, named(present.Documents(juju.Version{Major: 3}, []finding.Finding{both})[0]))
}
