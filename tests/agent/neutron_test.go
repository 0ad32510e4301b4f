package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// neutrons makes a router as Neutron does, with a gateway on the chassis c1.
func (p *plane) neutrons(name string) {
	p.t.Helper()
	p.nb(append(router(name, 0x201, "10.2.0.1/24"),
		"--", "set", "Logical_Router_Port", "lrp-"+name, `external_ids:"neutron:router_name"=`+name)...)
}

// has waits until a router's gateway has that many candidates, and returns them.
func (p *plane) has(router string, candidates int) (names []string) {
	p.t.Helper()
	p.until(func() bool {
		names = p.candidates(router)
		return len(names) == candidates
	}, "%s has not %d candidates", router, candidates)
	return names
}

// With schedule-neutron-gateways the agent changes Neutron's gateways, until Neutron, not a drain, has undone that
// twice.
func TestAgent_gateway_reverted_twice_is_left_to_Neutron(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 3, 0, "--mode", "on", "--schedule-neutron-gateways", "--hold-down", "1s")
	p.followAll()
	p.neutrons("n0")
	holder := p.holder(p.agents...)
	p.has("n0", 3)
	left := func() []string { return p.status(holder).Gateways.Left }
	for range 2 {
		first := p.has("n0", 3)[0]
		p.intend(first)
		p.until(func() bool { return p.candidates("n0")[2] == first }, "it is not drained")
		p.until(func() bool { // without ovn-northd the drain is not proved
			d := p.status(holder).Drains
			return len(d) == 1 && strings.HasPrefix(d[0].Text, maintenance.Progress{}.Text())
		})
		p.amend(maintenance.Uncordon(first, maintenance.Note{By: "a person", At: time.Now()}))
		p.amend(maintenance.End(first))
		p.until(func() bool { return len(p.status(holder).Drains) == 0 })
		p.arrive("c4")
		p.followAll() // a drain raises nb_cfg
		p.has("n0", 4)
		p.depart("c4")
		p.has("n0", 3)
	}
	require.Empty(t, left(), "the agent's own drains are not Neutron's")

	undo := func() { // as Neutron does if it wants two candidates
		p.nb("lrp-del-gateway-chassis", "lrp-n0", p.candidates("n0")[2])
	}
	undo()
	p.has("n0", 3)
	assert.Empty(t, left())
	undo()
	p.until(func() bool { return slices.Equal(left(), []string{"lrp-n0"}) }, "it is not reported")
	before := p.database().Committed()
	always(t, func() bool { return len(p.candidates("n0")) == 2 }, 4*time.Second, 200*time.Millisecond, "it is left")
	assert.Equal(t, before, p.database().Committed())
}

func TestAgent_leaves_Neutron_gateways_by_default(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 2, 1, "--mode", "on", "--hold-down", "1s")
	p.neutrons("n0")
	holder := p.holder(p.agents...)
	p.has("r0", 2)
	var advice []report.Advice
	p.until(func() bool {
		advice = p.status(holder).Gateways.Advice
		return len(advice) == 1 && advice[0].Gateway == "lrp-n0"
	})
	require.NotEmpty(t, advice[0].Reason)
	advice[0].Reason = ""
	assert.Equal(t, report.Advice{
		Gateway: "lrp-n0", Before: []string{"c1"}, After: []string{"c1", "c2"}, Neutron: true,
	}, advice[0])
	assert.Equal(t, []string{"c1"}, p.candidates("n0"))
}
