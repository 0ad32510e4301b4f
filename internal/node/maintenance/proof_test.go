package maintenance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// cloud simulates looks at a drain. nb_cfg is raised as soon as a sign of life is requested.
type cloud struct {
	hosts           map[string]string
	asked, followed int64
	world           world
	drain           maintenance.Drainer
	questions       []int
}

func (c *cloud) look(t *testing.T, second int) (proved bool) {
	t.Helper()
	c.world.seen = maintenance.Sight{Claims: maintenance.Claims{Hosts: c.hosts, Asked: c.asked, Followed: c.followed}}
	asked := c.world.asked
	c.world.step(t, &c.drain, time.Duration(second)*time.Second)
	if c.world.asked > asked {
		c.asked++
		c.questions = append(c.questions, second)
	}
	return !c.drain.Progress.Unproved
}

// move makes a step that moves a gateway, right before the look at that second.
func (c *cloud) move(t *testing.T, second int) {
	t.Helper()
	c.world.moved = new(settles)
	for _, left := range []int{0, 1} { // a gateway that comes back is moved at once
		c.world.seen.Progress = maintenance.Progress{Left: left, Holds: settles.Holds}
		c.world.step(t, &c.drain, time.Duration(second)*time.Second)
	}
}

func newCloud() *cloud {
	return &cloud{hosts: map[string]string{"a": "c2", "b": "c3"}, asked: 7, followed: 7}
}

// R6, R17: ovn-northd is asked once, however long it takes: with 10,000 routers longer than any fixed limit.
func TestProof_slow_northd(t *testing.T) {
	t.Parallel()
	c := newCloud()
	c.move(t, 0)
	for second := range 3600 {
		assert.False(t, c.look(t, second), "at %d", second)
	}
	c.followed = c.asked
	assert.True(t, c.look(t, 3600))
	assert.True(t, c.look(t, 9000))
	assert.Equal(t, []int{0}, c.questions)
}

// R6: the first look finds an unproved drain; its command gets time to prove it.
func TestProof_first_look_is_unproved(t *testing.T) {
	t.Parallel()
	c := newCloud()
	for second := range 30 {
		assert.False(t, c.look(t, second), "at %d", second)
	}
	assert.Empty(t, c.questions)
	byItsCommand := newCloud()
	byItsCommand.look(t, 0)
	byItsCommand.asked, byItsCommand.followed = 8, 8
	assert.True(t, byItsCommand.look(t, 1))
	assert.Empty(t, byItsCommand.questions)

	assert.False(t, c.look(t, 30))
	assert.Equal(t, []int{30}, c.questions)
	c.followed = c.asked
	assert.True(t, c.look(t, 31))

	c.move(t, 40)
	assert.False(t, c.look(t, 40))
	assert.Equal(t, []int{30}, c.questions, "it is not asked again at once")
	c.look(t, 60)
	assert.Equal(t, []int{30, 60}, c.questions)
	nothing := &cloud{asked: 7, followed: 7}
	assert.True(t, nothing.look(t, 0), "a node that has had no gateway")
}

// A chassis may only need a moment to follow.
func TestProof_outlives_move_of_nothing(t *testing.T) {
	t.Parallel()
	c := newCloud()
	c.look(t, 0)
	c.asked, c.followed = 8, 8
	assert.True(t, c.look(t, 1))
	c.world.seen.Progress = maintenance.Progress{Left: 1} // left only at the first look
	c.world.step(t, &c.drain, 2*time.Second)
	assert.Equal(t, 1, c.world.moves)
	assert.True(t, c.look(t, 3))
	assert.Empty(t, c.questions)
}

// R17: no request can prove anything while a gateway alternates between other chassis.
func TestProof_pauses_grow(t *testing.T) {
	t.Parallel()
	c := newCloud()
	c.move(t, 0)
	for second := range 3600 {
		c.hosts["a"] = []string{"c2", "c3"}[second%2]
		c.followed = c.asked
		assert.False(t, c.look(t, second), "at %d", second)
	}
	assert.Equal(t, []int{0, 30, 90, 210, 450, 930, 1530, 2130, 2730, 3330}, c.questions)
	c.look(t, 3600)
	c.look(t, 3930)
	c.followed = c.asked
	assert.True(t, c.look(t, 3931), "once it stays")
}

func TestProof_ignores_created_and_deleted_gateways(t *testing.T) {
	t.Parallel()
	c := newCloud()
	c.move(t, 0)
	c.look(t, 0)
	c.hosts = map[string]string{"b": "c3", "new": "c2"}
	c.look(t, 1)
	c.hosts["new"] = "c4"
	c.followed = c.asked
	assert.True(t, c.look(t, 2))
	assert.Equal(t, []int{0}, c.questions)
}

// An nb_cfg from before the gateway was bound proves nothing, nor does one from before an older database was restored.
func TestProof_ignores_earlier_question(t *testing.T) {
	t.Parallel()
	c := newCloud()
	c.asked = 8 // for another purpose
	c.move(t, 0)
	c.look(t, 0)
	assert.Equal(t, []int{0}, c.questions)
	c.followed = 8
	assert.False(t, c.look(t, 1))
	c.followed = 9
	assert.True(t, c.look(t, 2))

	c = newCloud()
	c.asked, c.followed = 8700, 8700
	c.move(t, 0)
	c.look(t, 0)
	c.asked = 5000
	assert.False(t, c.look(t, 1))
	assert.False(t, c.look(t, 30))
	assert.Equal(t, []int{0, 30}, c.questions)
	assert.False(t, c.look(t, 31), "SB is ahead still")
	c.followed = 5001
	assert.False(t, c.look(t, 60), "SB was ahead at the look before")
	assert.False(t, c.look(t, 90))
	c.followed = c.asked
	assert.True(t, c.look(t, 91))
}
