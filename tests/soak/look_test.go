package soak

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
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
