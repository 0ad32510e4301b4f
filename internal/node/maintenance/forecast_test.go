package maintenance_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// imagined is a cloud with bound gateways that only a drain changes.
type imagined struct {
	schedule.State
	bound []maintenance.Binding
}

// imagine makes a random cloud. Its chassis respond or not, are cordoned, in other networks or remote. It has gateways
// of both storages, external ports that follow them or not, pinned gateways, and virtual machines.
func imagine(r *rand.Rand) *imagined {
	c := &imagined{}
	oneIn := func(of int) bool { return r.IntN(of) == 0 }
	names := make([]string, 2+r.IntN(4))
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i+1)
		x := schedule.Chassis{
			Name: names[i], Gateway: !oneIn(4), External: oneIn(3), Unresponsive: oneIn(6), Cordoned: oneIn(8),
			Remote: oneIn(12),
		}
		for _, network := range []string{"physnet1", "physnet2"} {
			if !oneIn(3) {
				x.Networks = append(x.Networks, network)
			}
		}
		c.Chassis = append(c.Chassis, x)
		c.bound = append(c.bound, maintenance.Binding{Port: "vm-" + names[i], Chassis: names[i]})
	}
	names = append(names, "gone")
	for i := range r.IntN(8) {
		g := schedule.Group{
			Name: fmt.Sprintf("lrp-%d", i), Storage: schedule.GatewayChassis,
			Owner: []schedule.Owner{schedule.Neutron, schedule.EarlierNeutron, schedule.Other}[r.IntN(3)],
		}
		for range 1 + r.IntN(2)*r.IntN(2) {
			g.Ports = append(g.Ports, schedule.Port{
				Name: fmt.Sprintf("lrp-%d-%d", i, len(g.Ports)), Router: "r", Network: []string{
					"physnet1", "physnet1", "physnet2", "",
				}[r.IntN(4)], Disabled: oneIn(10),
			})
		}
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for n, name := range names[:r.IntN(len(names))] {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: name, Priority: 5 - n})
		}
		c.Groups = append(c.Groups, g)
		if oneIn(4) {
			f := schedule.Group{
				Name: "ext-" +
					g.Name, Storage: schedule.HAChassisGroup, Kind: schedule.ExternalPorts, Owner: g.Owner, Follows: g.Name,
				Candidates: slices.Clone(g.Candidates),
				Ports:      []schedule.Port{{Name: "bm-" + g.Name, Network: []string{"physnet1", ""}[r.IntN(2)], External: true}},
			}
			if oneIn(2) {
				f.Kind, f.Follows = schedule.OneExternalPort, ""
			}
			c.Groups = append(c.Groups, f)
		}
	}
	if oneIn(3) {
		c.Pinned = append(c.Pinned,
			schedule.Pinned{Name: "gr", Kind: schedule.PinnedRouter, Chassis: names[0], Ports: []string{"lrp-gr"}, Record: "gr"})
		c.bound = append(c.bound, maintenance.Binding{Port: "lrp-gr", Type: "l3gateway", Chassis: names[0]})
	}
	c.bind()
	return c
}

// bind binds each gateway to its best responding candidate.
func (c *imagined) bind() {
	responds := map[string]bool{}
	for _, x := range c.Chassis {
		responds[x.Name] = !x.Unresponsive && !x.Remote
	}
	c.bound = slices.DeleteFunc(c.bound,
		func(b maintenance.Binding) bool { return b.Type == "chassisredirect" || b.Type == "external" })
	for _, g := range c.Groups {
		at := slices.IndexFunc(g.Ranked(), func(name string) bool { return responds[name] })
		for i := range g.Ports {
			p := &g.Ports[i]
			if p.Active = ""; at >= 0 && !p.Disabled {
				p.Active = g.Ranked()[at]
				kind, name := "chassisredirect", "cr-"+p.Name
				if p.External {
					kind, name = "external", p.Name
				}
				c.bound = append(c.bound, maintenance.Binding{Port: name, Type: kind, Chassis: p.Active})
			}
		}
	}
}

// unbound returns the gateways that have the chassis as a candidate and that no chassis has claimed.
func (c *imagined) unbound(chassis string) (all []string) {
	for _, g := range c.Groups {
		for _, p := range g.Ports {
			if p.Active == "" && !p.External && !p.Disabled && slices.Contains(g.Ranked(), chassis) {
				all = append(all, p.Name)
			}
		}
	}
	return all
}

// drain carries out plans until nothing is left.
func (c *imagined) drain(t *testing.T, chassis string) {
	t.Helper()
	for range 10 {
		p := schedule.Drain(c.State, chassis, nil)
		if len(p.Changes) == 0 {
			return
		}
		for _, change := range p.Changes {
			at := slices.IndexFunc(c.Groups, func(g schedule.Group) bool { return g.Name == change.Group })
			c.Groups[at].Candidates = change.After
		}
		c.bind()
	}
	require.Fail(t, "the drain has no end")
}

// A dry run predicts its run. Both refuse a drain that would leave gateways. For any other drain, the dry run names the
// ports that are on the node or unbound in the end.
func TestForecast(t *testing.T) {
	t.Parallel()
	refused, waited := 0, 0
	for seed := range uint64(3000) {
		c := imagine(rand.New(rand.NewPCG(seed, 1)))
		chassis := c.Chassis[0].Name
		p := schedule.Drain(c.State, chassis, nil)
		pinned := len(c.PinnedTo(chassis))
		if len(p.Blocked) > 0 {
			refused++
			c.drain(t, chassis)
			again := schedule.Drain(c.State, chassis, nil)
			assert.NotEmpty(t, again.Blocked, "seed %d: what is refused would have ended well", seed)
			continue
		}
		assert.Zero(t, pinned, "seed %d: what is pinned is left", seed)
		var foretold []string
		for _, a := range maintenance.Forecast(chassis, p, c.State, c.bound, c.unbound(chassis)) {
			foretold = append(foretold, a.Port)
		}
		nowhere := c.unbound(chassis)
		c.drain(t, chassis)
		left := c.unbound(chassis)
		for _, b := range c.bound {
			if b.Chassis == chassis {
				left = append(left, b.Port)
			}
		}
		waited += len(left)
		for _, port := range left {
			assert.Contains(t, foretold, port, "seed %d: the run waits for it", seed)
		}
		for _, port := range foretold {
			if !slices.Contains(nowhere, port) {
				assert.Contains(t, left, port, "seed %d: the run does not wait for it", seed)
			}
		}
		assert.True(t, slices.ContainsFunc(foretold, func(port string) bool { return strings.HasPrefix(port, "vm-") }),
			"seed %d", seed)
	}
	assert.Greater(t, refused, 300)
	assert.Greater(t, waited, 1000)
}
