package soak

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// A member that is cut off goes to later terms by itself, and knows an old configuration.
func TestClusterIsSeenByItsLeaderOrElseByTheLongestCommittedLog(t *testing.T) {
	t.Parallel()
	status := func(role raft.Role, term, end, open uint64) raft.Status {
		return raft.Status{Server: "a", Role: role, Term: term, Log: raft.Log{End: end}, NotCommitted: open}
	}
	for name, c := range map[string]struct{ more, less raft.Status }{
		"any":                    {status(raft.Candidate, 1, 5, 0), raft.Status{}},
		"a leader":               {status(raft.Leader, 3, 20, 0), status(raft.Candidate, 9, 20, 0)},
		"the later leader":       {status(raft.Leader, 4, 20, 0), status(raft.Leader, 3, 25, 5)},
		"who was not cut off":    {status(raft.Candidate, 3, 20, 0), status(raft.Candidate, 9, 12, 0)},
		"not what may be undone": {status(raft.Follower, 3, 20, 0), status(raft.Candidate, 3, 22, 10)},
		"else the later term":    {status(raft.Follower, 4, 20, 0), status(raft.Follower, 3, 20, 0)},
	} {
		assert.True(t, better(c.more, c.less), name)
		assert.False(t, better(c.less, c.more), name)
	}
}

// After a recovery the new cluster begins at term 1, while servers of the old one may still
// run, at a later term and with a longer log.
func TestNewClusterIsSeenBesideOneOfALaterTermThatWasGivenUp(t *testing.T) {
	t.Parallel()
	old, current := raft.ID("old"), raft.ID("new")
	answers := []raft.Status{
		{Server: "aaaa", Cluster: &old, Role: raft.Leader, Term: 9, Log: raft.Log{End: 90}},
		{Server: "bbbb", Cluster: &current, Role: raft.Leader, Term: 1, Log: raft.Log{End: 3}},
		{Server: "cccc", Cluster: &old, Role: raft.Follower, Leader: "aaaa", Term: 9},
		{Server: "dddd", Cluster: nil},
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

func TestMemberIsDownByTheFaultThatTookIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults                  map[string]int
		running, gaveUp, paused bool
		want                    Why
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
		"a full disk may take it":             {map[string]int{"full": 6}, true, false, false, Standing},
		"a full disk had not taken it":        {map[string]int{"full": 6, "power-off": 7}, false, false, false, New},
		"what it lost on one is seen later":   {map[string]int{"was full": 6}, false, false, false, Standing},
		"it could not store its vote on one":  {map[string]int{"was full": 6}, true, true, false, Standing},
		"it has no database without a fault":  {nil, true, true, false, Up},
		"what it lost on one is not seen yet": {map[string]int{"was full": 6}, true, false, false, Up},
	} {
		assert.Equal(t, c.want, whyDown(c.faults, 7, lab.NB, c.running, c.gaveUp, c.paused), name)
	}
}
