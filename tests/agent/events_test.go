package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// eventsOfChassis is the number of arrivals and departures, flapping the number of chassis that make them.
const (
	eventsOfChassis = 10_000
	flapping        = 20
)

// 004: all agents follow ten thousand arrivals and departures of chassis, as fast as the database takes them, without
// more memory. The acting agent handles the final state in no more plans than the hold-down allows.
func TestAgent_ten_thousand_chassis_events_make_few_plans(t *testing.T) {
	t.Parallel()
	const holdDown = 2 * time.Second
	p := newPlaneOf(t, shipped(t), "--mode", "on", "--hold-down", holdDown.String())
	p.populate(2, 3)
	holder := p.holder(p.agents...)
	p.complete(2)
	before, changes := len(p.journal()), p.status(holder).Changes
	r := rand.New(rand.NewPCG(1, 14)) //nolint:gosec // the sequence is no secret
	there := map[string]bool{}
	events := func(n int) { p.flap(r, there, n) }

	events(eventsOfChassis / 10)
	most := make([]int, len(p.agents))
	for i, a := range p.agents {
		most[i], _ = resources(t, a)
	}
	begun := time.Now()
	events(eventsOfChassis)
	took := time.Since(begun)

	want := []string{"c1", "c2"}
	for _, name := range []string{"f1", "f2", "f3"} { // at most as many as a gateway may have
		if !there[name] {
			p.transact(arrival(name))
			there[name] = true
		}
		want = append(want, name)
	}
	for name := range there {
		if !slices.Contains(want, name) {
			p.transact(departure(name))
		}
	}
	p.until(func() bool {
		for i := range 3 {
			have := p.candidates(fmt.Sprint("r", i))
			slices.Sort(have)
			if !slices.Equal(want, have) {
				return false
			}
		}
		return p.calm(holder)
	}, "want %v: %v", want, p.candidates("r0"))
	for i := range 3 {
		assert.Equal(t, "c1", p.candidates(fmt.Sprint("r", i))[0], "the master stays")
	}
	by := p.journal()[before:]
	acted := slices.Compact(slices.Clone(by))
	if changes = p.status(holder).Changes - changes; changes == 0 { // otherwise the machine was busy for seconds
		assert.Equal(t, []string{holder.unit + ", agent"}, acted)
	}
	assert.LessOrEqual(t, len(acted), 1+changes, "%v after %d takeovers", acted, changes)
	t.Logf("%d events in %s; %d plans", eventsOfChassis, took, len(by))
	assert.LessOrEqual(t, len(by), 3+int(time.Since(begun)/holdDown), "more plans than the hold-down allows")
	for i, a := range p.agents {
		memory, descriptors := resources(t, a)
		t.Logf("%s: %d kB after a tenth, %d in the end", a.unit, most[i], memory)
		assert.Less(t, memory, most[i]+most[i]/4+16<<10, "kB of %s: more than after a tenth of the events", a.unit)
		assert.Less(t, descriptors, 40, "of %s", a.unit)
	}
}

// flap makes chassis come and go at random, with one transaction for each event.
func (p *plane) flap(r *rand.Rand, there map[string]bool, n int) {
	p.t.Helper()
	var all []string
	for range n {
		name := fmt.Sprint("f", 1+r.IntN(flapping))
		if there[name] {
			all = append(all, departure(name))
			delete(there, name)
		} else {
			all = append(all, arrival(name))
			there[name] = true
		}
	}
	p.transact(all...)
}

// arrival and departure are the operations of an ovn-controller on its chassis (see [plane.arrive]).
func arrival(name string) string {
	return fmt.Sprintf(`{"op":"insert","table":"Encap","uuid-name":"e",`+
		`"row":{"type":"geneve","ip":"10.2.0.%[2]s","chassis_name":"%[1]s"}},`+
		`{"op":"insert","table":"Chassis","uuid-name":"c","row":{"name":"%[1]s","encaps":["named-uuid","e"],`+
		`"other_config":["map",[["ovn-cms-options","enable-chassis-as-gw"],["ovn-bridge-mappings","net:br-ex"]]]}},`+
		`{"op":"insert","table":"Chassis_Private","row":{"name":"%[1]s","chassis":["named-uuid","c"]}}`,
		name, strings.TrimPrefix(name, "f"))
}

func departure(name string) string {
	return fmt.Sprintf(`{"op":"delete","table":"Chassis_Private","where":[["name","==",%[1]q]]},`+
		`{"op":"delete","table":"Chassis","where":[["name","==",%[1]q]]}`, name)
}

func (p *plane) transact(all ...string) {
	p.t.Helper()
	c, err := net.Dial("unix", p.south.Paths.Socket(p.south.Database))
	require.NoError(p.t, err)
	defer func() { _ = c.Close() }()
	require.NoError(p.t, c.SetDeadline(time.Now().Add(2*patience)))
	answers := json.NewDecoder(c)
	for i, operations := range all {
		_, err := fmt.Fprintf(c, `{"method":"transact","id":%d,"params":["OVN_Southbound",%s]}`, i, operations)
		require.NoError(p.t, err)
		var answer struct {
			Result []struct{ Error, Details string }
			Error  any
		}
		require.NoError(p.t, answers.Decode(&answer))
		require.Nil(p.t, answer.Error)
		for _, r := range answer.Result {
			require.Empty(p.t, r.Error, r.Details)
		}
	}
}
