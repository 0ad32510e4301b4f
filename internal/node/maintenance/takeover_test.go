package maintenance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// moved is a gateway that goes from c1 to c2 or c3, of which the latter was no candidate.
func moved(port, to string) schedule.Change {
	was := []schedule.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}}
	return schedule.Change{
		Group: port, Ports: []schedule.Port{{Name: port}}, Before: was,
		After: []schedule.Candidate{{Chassis: to, Priority: 2}, {Chassis: "c1", Priority: 1}},
	}
}

// What is asked for with the ranks proves that gateways work only where the chassis that take them follow it
// after they have claimed them.
func TestTakersOfADrainHaveFollowedWhatWasAskedForWithTheRanks(t *testing.T) {
	t.Parallel()
	const asked = 7
	there := maintenance.Progress{Ports: []string{"a"}, Follows: map[string]int64{"c1": 6, "c2": 6}}
	follows := func(n int64) maintenance.Progress {
		return maintenance.Progress{Follows: map[string]int64{"c1": n, "c2": n, "c3": n}}
	}
	for name, x := range map[string]struct {
		before  []maintenance.Progress
		written []schedule.Change
		asked   int64
		after   []maintenance.Progress
		joined  bool
		proved  bool
	}{
		"it has followed":                           {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c2")}, asked, []maintenance.Progress{there, follows(asked)}, false, true},
		"it has claimed, and does not follow":       {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c2")}, asked, []maintenance.Progress{there, follows(asked - 1)}, false, false},
		"it followed before it had claimed":         {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c2")}, asked, []maintenance.Progress{{Ports: []string{"a"}, Follows: map[string]int64{"c2": asked}}, follows(asked)}, false, false},
		"it followed while the port was on none":    {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c2")}, asked, []maintenance.Progress{{Unbound: []string{"a"}, Follows: map[string]int64{"c2": asked}}, follows(asked)}, false, false},
		"another one followed before it":            {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c2")}, asked, []maintenance.Progress{{Ports: []string{"a"}, Follows: map[string]int64{"c3": asked}}, follows(asked)}, false, true},
		"it was no candidate":                       {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c3")}, asked, []maintenance.Progress{there, follows(asked)}, false, false},
		"another process has moved it":              {[]maintenance.Progress{there}, []schedule.Change{moved("b", "c2")}, asked, []maintenance.Progress{there, follows(asked)}, false, false},
		"it was moved before this was begun":        {nil, []schedule.Change{moved("b", "c2")}, asked, []maintenance.Progress{follows(asked)}, true, false},
		"nothing was asked for":                     {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c2")}, 0, []maintenance.Progress{there, follows(asked)}, false, false},
		"nothing was written":                       {[]maintenance.Progress{there}, nil, 0, []maintenance.Progress{follows(asked)}, false, false},
		"it has no row to follow with, as in 20.06": {[]maintenance.Progress{there}, []schedule.Change{moved("a", "c2")}, asked, []maintenance.Progress{{}}, false, true},
	} {
		proof := maintenance.Takeover{Joined: x.joined}
		for _, p := range x.before {
			proof.Observe(p)
		}
		proof.Written(x.written, x.asked)
		for _, p := range x.after {
			proof.Observe(p)
		}
		assert.Equal(t, x.proved, proof.Proved(), name)
	}
}

// What is moved on is asked for anew.
func TestTakerThatGetsMoreIsAskedAgain(t *testing.T) {
	t.Parallel()
	var proof maintenance.Takeover
	proof.Observe(maintenance.Progress{Ports: []string{"a", "b"}})
	proof.Written([]schedule.Change{moved("a", "c2")}, 7)
	proof.Observe(maintenance.Progress{Ports: []string{"b"}, Follows: map[string]int64{"c2": 7}})
	proof.Written([]schedule.Change{moved("b", "c2")}, 8)
	proof.Observe(maintenance.Progress{Follows: map[string]int64{"c2": 7}})
	assert.False(t, proof.Proved())
	proof.Observe(maintenance.Progress{Follows: map[string]int64{"c2": 8}})
	assert.True(t, proof.Proved())
}
