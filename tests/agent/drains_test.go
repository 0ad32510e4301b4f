package agent

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// intend records a drain as a killed command leaves it.
func (p *plane) intend(chassis string) {
	p.t.Helper()
	p.amend(maintenance.Begin(chassis, maintenance.Note{By: "a person", At: time.Now()}, maintenance.Limits{Timeout: time.Hour}))
}

func (p *plane) amend(change maintenance.Change) {
	p.t.Helper()
	var args []string
	for _, key := range change.Drop {
		args = append(args, "--", "remove", "NB_Global", ".", "external_ids", strconv.Quote(key))
	}
	for key, value := range change.Set {
		args = append(args, "--", "set", "NB_Global", ".", fmt.Sprintf("external_ids:%q=%q", key, value))
	}
	p.nb(args[1:]...)
}

func (p *plane) leaves(chassis string, gateways int) {
	p.t.Helper()
	eventually(p.t, func() bool {
		for i := range gateways {
			if list := p.candidates(fmt.Sprint("r", i)); len(list) != 3 || list[2] != chassis {
				return false
			}
		}
		return true
	}, patience, 200*time.Millisecond, "%s is not last everywhere: %v", chassis, p.candidates("r0"))
}

// 002-16, 001-2, R14: the holder of the lease continues a drain whose command has ended, in any mode; if it sleeps, the
// next one does, under its own term. As long as the intent exists, a node that Neutron chooses again is demoted again.
func TestDrain_interrupted_is_continued_by_acting_unit(t *testing.T) {
	t.Parallel()
	p := newPlane(t) // it only advises if nothing else was asked for
	p.nb("init")
	for _, c := range []string{"c1", "c2", "c3"} {
		p.arrive(c)
		p.followsAll(c)
	}
	p.gateways(3)
	for i := range 3 {
		p.nb("lrp-set-gateway-chassis", fmt.Sprint("lrp-r", i), "c2", "3", "--", "lrp-set-gateway-chassis", fmt.Sprint("lrp-r", i), "c3", "1")
	}
	first := p.holder(p.agents...)
	p.intend("c1")
	require.NoError(t, first.Signal(syscall.SIGSTOP))
	next, _ := p.replaced(first, time.Now())
	p.leaves("c1", 3)
	require.NoError(t, first.Signal(syscall.SIGCONT))
	eventually(t, func() bool { return p.all(p.agents, next.unit) }, patience, 100*time.Millisecond)

	p.nb("lrp-set-gateway-chassis", "lrp-r0", "c1", "20") // as Neutron does for a router
	p.leaves("c1", 3)
	for _, by := range p.journal() {
		assert.Equal(t, next.unit+", agent", by)
	}
	eventually(t, func() bool {
		d := p.status(next).Drains
		return len(d) == 1 && d[0].Text == "nothing is left, not proved yet" && !d[0].Done
	}, patience, 100*time.Millisecond, "without ovn-northd it is not known which chassis respond")
	p.northd()
	eventually(t, func() bool { d := p.status(next).Drains; return len(d) == 1 && d[0].Done }, patience, 100*time.Millisecond)
	assert.Empty(t, p.status(first).Drains, "it is told by the unit that acts")
	assert.Contains(t, p.get(next, "/metrics"), `ovn_central_drains{state="done"} 1`)

	asked := func() (nbCfg int) { // R17
		_, err := fmt.Sscan(p.nb("get", "NB_Global", ".", "nb_cfg"), &nbCfg)
		require.NoError(t, err)
		return nbCfg
	}
	was := asked()
	require.NoError(t, next.Signal(syscall.SIGSTOP))
	third, _ := p.replaced(next, time.Now())
	require.NoError(t, next.Signal(syscall.SIGCONT))
	next = third
	eventually(t, func() bool {
		d := p.status(next).Drains
		return len(d) == 1 && d[0].Text == "nothing is left, not proved yet" && !d[0].Done
	}, patience, 100*time.Millisecond, "R6")
	eventually(t, func() bool { d := p.status(next).Drains; return len(d) == 1 && d[0].Done }, patience, 100*time.Millisecond)
	always(t, func() bool { return asked() == was+1 }, 2*ttl, ttl/4, "it is asked once")
	eventually(t, func() bool { return p.all(p.agents, next.unit) }, patience, 100*time.Millisecond)

	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:maintenance-hosts/c1"="[]"`) // it is cordoned still, and they only advise
	p.nb("remove", "NB_Global", ".", "external_ids", `"ovn-central:drain/c1"`)
	eventually(t, func() bool { return len(p.status(next).Drains) == 0 }, patience, 100*time.Millisecond, "it ends with the intent")
	p.nb("lrp-set-gateway-chassis", "lrp-r0", "c1", "20")
	before, wrote := len(p.journal()), time.Now()
	eventually(t, func() bool {
		ago := p.status(next).Gateways.LookedSecondsAgo
		return ago >= 0 && ago < time.Since(wrote).Seconds()
	}, patience, 100*time.Millisecond, "it has seen that")
	assert.Len(t, p.journal(), before, "it is Neutron's to choose again")
}

func (p *plane) cordon(chassis string) {
	p.t.Helper()
	s := &node.Service{
		Gateways: &gateway.Service{Dialer: new(ovsdb.Dialer), NB: strings.Split(p.members(), ","), SB: []string{p.south.Endpoint()}, By: "a test", Now: time.Now},
		Command:  func(c command.Command) string { return c.Action + " " + c.Params[0].Value },
	}
	defer s.Close()
	said := s.Cordon(p.t.Context(), node.Request{Node: chassis, Reason: "new disk"})
	require.Equal(p.t, 200, said.Code, document.Answer(said))
}

// 001-2: what Neutron puts on a cordoned node, and first, the agent that acts demotes there again,
// whichever gateways it may schedule otherwise: the cordon is a person's. What was there at the cordon stays.
func TestCordon_new_gateway_is_demoted_and_old_one_stays(t *testing.T) {
	t.Parallel()
	p := newPlane(t, "--mode", "on", "--hold-down", "1s")
	p.nb("init")
	for _, c := range []string{"c1", "c2", "c3"} {
		p.arrive(c)
	}
	p.gateways(3)
	for i := range 3 {
		p.nb("set", "Logical_Router_Port", fmt.Sprint("lrp-r", i), `external_ids:neutron\:is_ext_gw=True`, "--",
			"lrp-set-gateway-chassis", fmt.Sprint("lrp-r", i), "c2", "3", "--", "lrp-set-gateway-chassis", fmt.Sprint("lrp-r", i), "c3", "1")
	}
	p.nb("lrp-set-gateway-chassis", "lrp-r2", "c2", "20")
	holder := p.holder(p.agents...)
	p.cordon("c1")
	for _, priority := range []string{"40", "50"} { // one write for each
		p.nb("lrp-set-gateway-chassis", "lrp-r2", "c1", priority) // as Neutron does for a router
		eventually(t, func() bool { list := p.candidates("r2"); return len(list) == 3 && list[2] == "c1" }, patience, 100*time.Millisecond)
	}
	for _, r := range []string{"r0", "r1"} {
		assert.Equal(t, []string{"c1", "c2", "c3"}, p.candidates(r), "it was there at the cordon")
	}
	by := p.journal()
	require.Len(t, by, 2)
	assert.Equal(t, holder.unit+", agent", by[0])
	before := p.database()
	always(t, func() bool { return p.database().Committed() == before.Committed() }, 2*ttl, ttl/4, "commits without an event")

	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:maintenance/c1"=false`)
	p.nb("lrp-set-gateway-chassis", "lrp-r2", "c1", "60")
	wrote := time.Now()
	eventually(t, func() bool {
		ago := p.status(holder).Gateways.LookedSecondsAgo
		return ago >= 0 && ago < time.Since(wrote).Seconds()
	}, patience, 100*time.Millisecond, "it has seen that")
	assert.Equal(t, "c1", p.candidates("r2")[0], "it is Neutron's to choose again")
	assert.Len(t, p.journal(), 2)
}
