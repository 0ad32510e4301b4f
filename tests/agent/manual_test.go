package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A person's commands need no lease. Whichever is first, the other one plans again: nothing that
// one has written is lost, or done twice, and the journal says which has done what.
func TestCommandsOfAPersonBesideTheUnitThatActsLoseNothing(t *testing.T) {
	t.Parallel()
	p := newPlane(t, "--mode", "on", "--hold-down", "1s")
	p.nb("init")
	p.arrive("c1")
	p.gateways(3)
	holder := p.holder(p.agents...)
	p.arrive("c2")
	p.complete(2) // by the agent
	for n := range 6 {
		name := fmt.Sprintf("c%d", 3+n%3)
		if n < 3 {
			p.arrive(name)
		} else {
			p.depart(name)
		}
		var commands []*process
		for range 2 {
			commands = append(commands, p.start(p.program.environment, p.program.path, "gateways", "reschedule", "--wait", "0", "--nb", p.servers[n%hub].Endpoint(), "--sb", p.southbound()))
		}
		for _, c := range commands {
			_ = c.Wait(t)
			assert.NotContains(t, c.Output(), "error", "%s", c.Output())
		}
	}
	p.complete(2)
	eventually(t, func() bool {
		s := p.status(holder).Gateways
		return len(s.HeldDown)+len(s.Advice) == 0
	}, patience, 100*time.Millisecond)

	all := (&played{plane: p, seen: map[string]bool{}}).records()
	by, left := map[bool]int{}, map[string]map[string]int{}
	for _, record := range all {
		require.NotEmpty(t, record.By)
		by[strings.HasSuffix(record.By, ", agent")]++
		for _, c := range record.Changes {
			if left[c.Group] == nil {
				left[c.Group] = map[string]int{}
			}
			left[c.Group][fmt.Sprint(c.Before)]--
			left[c.Group][fmt.Sprint(c.After)]++
		}
	}
	t.Logf("%d of the agent, %d of people", by[true], by[false])
	assert.Positive(t, by[true])
	assert.Positive(t, by[false])
	for i := range 3 {
		group := fmt.Sprintf("lrp-r%d", i)
		require.Contains(t, left, group)
		for list, n := range left[group] { // each was begun where another has ended, but for the first and the last
			switch {
			case list == "[{c1 5}]":
				assert.Equal(t, -1, n, "%s: it was so at first", group)
			case n != 0:
				assert.Equal(t, 1, n, "%s: %s", group, list)
				assert.Equal(t, len(p.candidates(fmt.Sprint("r", i))), strings.Count(list, "{"), "%s: it is so in the end", group)
			}
		}
	}
}
