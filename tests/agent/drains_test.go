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
	note := maintenance.Note{By: "a person", At: time.Now()}
	p.amend(maintenance.Begin(chassis, note, maintenance.Limits{Timeout: time.Hour}))
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
	p.until(func() bool {
		for i := range gateways {
			if list := p.candidates(fmt.Sprint("r", i)); len(list) != 3 || list[2] != chassis {
				return false
			}
		}
		return true
	}, "%s is not last everywhere: %v", chassis, p.candidates("r0"))
}

// 002-16, 001-2, R14: the holder of the lease continues a drain whose command has ended, in any mode. If the holder
// sleeps, the next one does, under its own term. As long as the intent exists, gateways that Neutron puts on the node
// are demoted again.
func TestDrain_interrupted_is_continued_by_acting_unit(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 3, 3) // the agent only advises unless told otherwise
	p.followAll()
	p.backups(3)
	first := p.holder(p.agents...)
	p.intend("c1")
	require.NoError(t, first.Signal(syscall.SIGSTOP))
	next, _ := p.replaced(first, time.Now())
	p.leaves("c1", 3)
	require.NoError(t, first.Signal(syscall.SIGCONT))
	p.until(func() bool { return p.all(p.agents, next.unit) })

	p.nb("lrp-set-gateway-chassis", "lrp-r0", "c1", "20") // as Neutron does for a router
	p.leaves("c1", 3)
	for _, by := range p.journal() {
		assert.Equal(t, next.unit+", agent", by)
	}
	unproved := func() bool {
		d := p.status(next).Drains
		return len(d) == 1 && d[0].Text == "nothing is left, not proved yet" && !d[0].Done
	}
	done := func() bool { d := p.status(next).Drains; return len(d) == 1 && d[0].Done }
	p.until(unproved, "without ovn-northd it is not known which chassis respond")
	p.northd()
	p.until(done)
	assert.Empty(t, p.status(first).Drains, "only the unit that acts reports it")
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
	p.until(unproved, "R6")
	p.until(done)
	always(t, func() bool { return asked() == was+1 }, 2*ttl, ttl/4, "it is asked once")
	p.until(func() bool { return p.all(p.agents, next.unit) })

	// The node is still cordoned, but the agents only advise.
	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:maintenance-hosts/c1"="[]"`)
	p.nb("remove", "NB_Global", ".", "external_ids", `"ovn-central:drain/c1"`)
	p.until(func() bool { return len(p.status(next).Drains) == 0 }, "it ends with the intent")
	p.nb("lrp-set-gateway-chassis", "lrp-r0", "c1", "20")
	before := len(p.journal())
	p.looks(next)
	assert.Len(t, p.journal(), before, "Neutron may choose it again")
}

func (p *plane) cordon(chassis string) {
	p.t.Helper()
	s := &node.Service{
		Gateways: &gateway.Service{
			Dialer: new(ovsdb.Dialer), NB: strings.Split(p.members(), ","), SB: []string{p.south.Endpoint()}, By: "a test",
			Now: time.Now,
		},
		Command: func(c command.Command) string { return c.Action + " " + c.Params[0].Value },
	}
	defer s.Close()
	said := s.Cordon(p.t.Context(), node.Request{Node: chassis, Reason: "new disk"})
	require.Equal(p.t, 200, said.Code, document.Answer(said))
}

// 001-2: the acting agent demotes a gateway that Neutron puts on a cordoned node, even a gateway that it may not
// schedule: a person has set the cordon. Gateways that were there before stay.
func TestCordon_new_gateway_is_demoted_and_old_one_stays(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 3, 3, "--mode", "on", "--hold-down", "1s")
	for i := range 3 {
		p.nb("set", "Logical_Router_Port", fmt.Sprint("lrp-r", i), `external_ids:neutron\:is_ext_gw=True`)
	}
	p.backups(3)
	p.nb("lrp-set-gateway-chassis", "lrp-r2", "c2", "20")
	holder := p.holder(p.agents...)
	p.cordon("c1")
	for _, priority := range []string{"40", "50"} { // one write for each
		p.nb("lrp-set-gateway-chassis", "lrp-r2", "c1", priority) // as Neutron does for a router
		p.until(func() bool { list := p.candidates("r2"); return len(list) == 3 && list[2] == "c1" })
	}
	for _, r := range []string{"r0", "r1"} {
		assert.Equal(t, []string{"c1", "c2", "c3"}, p.candidates(r), "it was there at the cordon")
	}
	by := p.journal()
	require.Len(t, by, 2)
	assert.Equal(t, holder.unit+", agent", by[0])
	p.idle()

	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:maintenance/c1"=false`)
	p.nb("lrp-set-gateway-chassis", "lrp-r2", "c1", "60")
	p.looks(holder)
	assert.Equal(t, "c1", p.candidates("r2")[0], "Neutron may choose it again")
	assert.Len(t, p.journal(), 2)
}
