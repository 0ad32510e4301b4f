package maintenance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// A look is how many gateways are left at a second, and whether the agent is to go on then.
type look struct {
	at, left int
	due      bool
}

func TestDrainIsGoneOnWithWhereNothingElseDoes(t *testing.T) {
	t.Parallel()
	for name, looks := range map[string][]look{
		"its command gets on":             {{0, 300, false}, {9, 200, false}, {18, 100, false}, {27, 0, false}},
		"its command died":                {{0, 300, false}, {5, 200, false}, {14, 200, false}, {15, 200, true}, {16, 0, false}},
		"Neutron chooses the node again":  {{0, 3, false}, {2, 0, false}, {100, 1, true}, {101, 0, false}, {102, 2, true}},
		"what was done did not help":      {{0, 1, false}, {10, 1, true}, {11, 1, false}, {20, 1, true}},
		"there was nothing to do at all":  {{0, 0, false}, {1, 0, false}},
		"Neutron puts more there at once": {{0, 3, false}, {5, 4, false}, {10, 4, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f maintenance.Follower
			for _, l := range looks {
				due, next := f.Look(l.left, time.Duration(l.at)*time.Second)
				assert.Equal(t, l.due, due, "at %d", l.at)
				assert.Equal(t, l.left > 0 && !due, next > 0, "at %d it is looked again", l.at)
			}
		})
	}
}

func TestDrainWithoutProgressHasStalled(t *testing.T) {
	t.Parallel()
	var w maintenance.Watch
	begun := time.Unix(0, 0)
	p := maintenance.Progress{Left: 3}
	w.Next(p, begun)
	assert.False(t, w.Stalled(p, begun.Add(299*time.Second)))
	assert.True(t, w.Stalled(p, begun.Add(300*time.Second)))
	assert.False(t, w.Stalled(maintenance.Progress{}, begun.Add(300*time.Second)), "a node that is empty")
	p.Left = 2
	w.Next(p, begun.Add(301*time.Second))
	assert.False(t, w.Stalled(p, begun.Add(302*time.Second)))
}

func TestDrainThatIsNotProvedForLongHasStalled(t *testing.T) {
	t.Parallel()
	var w maintenance.Watch
	begun := time.Unix(0, 0)
	p := maintenance.Progress{Unproved: true}
	w.Next(maintenance.Progress{}, begun)
	w.Next(p, begun.Add(time.Hour))
	assert.False(t, p.Done())
	assert.Equal(t, "nothing is left, not proved yet", p.Text())
	assert.False(t, w.Stalled(p, begun.Add(time.Hour+299*time.Second)), "it counts from when it was not proved any more")
	assert.True(t, w.Stalled(p, begun.Add(time.Hour+300*time.Second)))
}

// Gateways are on no chassis for a while whenever they move: only where that lasts a sign of life
// is asked for, and more and more rarely.
func TestDrainLooksWhichChassisLiveWhereGatewaysStayUnbound(t *testing.T) {
	t.Parallel()
	var r maintenance.Recheck
	begun := time.Unix(0, 0)
	var asked []int
	for at := range 3600 {
		p := maintenance.Progress{Unbound: []string{"lrp-1"}}
		if at == 4 {
			p = maintenance.Progress{}
		}
		if r.Due(p, begun.Add(time.Duration(at)*time.Second)) {
			asked = append(asked, at)
		}
	}
	assert.Equal(t, []int{10, 20, 40, 80, 160, 320, 640, 1240, 1840, 2440, 3040}, asked)
}
