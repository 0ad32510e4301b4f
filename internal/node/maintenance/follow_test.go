package maintenance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// A look is how many gateways are left at a second, and whether the agent is to continue then.
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
			var w world
			var d maintenance.Drainer
			for _, l := range looks {
				moves := w.moves
				w.seen.Left = l.left
				w.step(t, &d, time.Duration(l.at)*time.Second)
				assert.Equal(t, l.due, w.moves > moves, "at %d", l.at)
			}
		})
	}
}

func TestDrainWithoutProgressHasStalled(t *testing.T) {
	t.Parallel()
	w := world{seen: maintenance.Sight{Progress: maintenance.Progress{Left: 3}}}
	var d maintenance.Drainer
	w.step(t, &d, 0)
	assert.False(t, d.Stalled(at.Add(299*time.Second)))
	assert.True(t, d.Stalled(at.Add(300*time.Second)))
	w.seen.Left = 2
	w.step(t, &d, 301*time.Second)
	assert.False(t, d.Stalled(at.Add(302*time.Second)))
	w.seen.Left = 0
	w.step(t, &d, 303*time.Second)
	assert.False(t, d.Stalled(at.Add(time.Hour)), "a node that is empty")
}

func TestDrainThatIsNotProvedForLongHasStalled(t *testing.T) {
	t.Parallel()
	w := world{seen: maintenance.Sight{Claims: maintenance.Claims{Hosts: map[string]string{"a": "c2"}}}}
	var d maintenance.Drainer
	w.step(t, &d, 0)
	assert.False(t, d.Progress.Done())
	assert.Equal(t, "nothing is left, not proved yet", d.Progress.Text())
	assert.False(t, d.Stalled(at.Add(299*time.Second)))
	assert.True(t, d.Stalled(at.Add(300*time.Second)))
}

// Gateways are on no chassis for a while whenever they move: only if that lasts, a sign of life is asked for, and
// more and more rarely.
func TestDrainLooksWhichChassisLiveWhereGatewaysStayUnbound(t *testing.T) {
	t.Parallel()
	var w world
	var d maintenance.Drainer
	var asked []int
	for second := range 3600 {
		w.seen.Unbound = []string{"lrp-1"}
		if second == 4 {
			w.seen.Unbound = nil
		}
		synced := w.synced
		w.step(t, &d, time.Duration(second)*time.Second)
		if w.synced > synced {
			asked = append(asked, second)
		}
	}
	assert.Equal(t, []int{10, 20, 40, 80, 160, 320, 640, 1240, 1840, 2440, 3040}, asked)
}
