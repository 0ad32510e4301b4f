package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// 004: twenty chassis restart in turn: their rows go and return, and follow nb_cfg late. The agent writes nothing.
func TestAgent_rolling_restart_of_twenty_chassis_changes_no_row(t *testing.T) {
	t.Parallel()
	const twenty = 20
	p := newCloud(t, twenty, 3, "--mode", "on", "--hold-down", "10s")
	holder := p.holder(p.agents...)
	p.complete(5)
	calm := func() bool { return p.calm(holder) }
	p.until(calm)

	before, rows := p.database().Committed(), p.nb("--bare", "list", "Gateway_Chassis")
	for n := range twenty {
		name := fmt.Sprint("c", n+1)
		p.depart(name)
		require.NoError(t, poll.Wait(t.Context(), 300*time.Millisecond))
		p.arrive(name)
	}
	p.nb("set", "NB_Global", ".", "nb_cfg=1") // as any client that syncs does
	p.ask()
	for n := range twenty {
		require.NoError(t, poll.Wait(t.Context(), 100*time.Millisecond))
		p.follows(fmt.Sprint("c", n+1))
	}
	p.until(calm)
	always(t, calm, 11*time.Second, 500*time.Millisecond)
	assert.Equal(t, rows, p.nb("--bare", "list", "Gateway_Chassis"))
	assert.Equal(t, before+1, p.database().Committed(), "the one write is that of the client that syncs")
}

// ask increases nb_cfg once, as ovn-northd does.
func (p *plane) ask() {
	p.t.Helper()
	p.sb("set", "SB_Global", ".", "nb_cfg=1")
}

// follows makes a chassis' ovn-controller report the first nb_cfg.
func (p *plane) follows(name string) {
	p.t.Helper()
	p.sb("set", "Chassis_Private", name, "nb_cfg=1")
}

// 004: a chassis whose ovn-controller is behind nb_cfg for longer than the hold-down gets nothing, and keeps its
// gateways.
func TestAgent_slow_controller_gets_nothing_until_it_catches_up(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 3, 2, "--mode", "on", "--hold-down", "2s")
	holder := p.holder(p.agents...)
	p.has("r0", 3)
	p.has("r1", 3)

	p.nb("set", "NB_Global", ".", "nb_cfg=1")
	p.until(func() bool { return strings.Contains(p.get(holder, "/status"), "nb_cfg 0 of 1") })
	assert.NotRegexp(t, `ovn_central_chassis{state="unresponsive"} [1-9]`, p.get(holder, "/metrics"), "none was asked")
	p.ask()
	p.follows("c1")
	p.follows("c2")
	p.until(func() bool {
		return strings.Contains(p.get(holder, "/metrics"), `ovn_central_chassis{state="unresponsive"} 1`) &&
			len(p.status(holder).Gateways.HeldDown) == 0
	}, "it is not seen to stay behind")
	p.nb("lrp-del-gateway-chassis", "lrp-r0", "c2", "--", "lrp-del-gateway-chassis", "lrp-r0", "c3")
	assert.Contains(t, p.has("r0", 2), "c2")
	always(t, func() bool { return len(p.candidates("r0")) == 2 && len(p.candidates("r1")) == 3 }, 4*time.Second, ttl/20)

	followed := time.Now()
	p.follows("c3")
	assert.Contains(t, p.has("r0", 3), "c3")
	assert.GreaterOrEqual(t, time.Since(followed), 2*time.Second, "it is held down")
}

// A host makes itself a gateway chassis by its own row. It gets no gateway until an operator has uncordoned it.
func TestAgent_new_chassis_waits_for_operator(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 1, 3, "--mode", "on", "--hold-down", "0s", "--cordon-new-chassis")
	holder := p.holder(p.agents...)
	record := func(key string) string {
		return strings.TrimSpace(p.nb("--if-exists", "get", "NB_Global", ".", `external_ids:"ovn-central:`+key+`"`))
	}
	p.until(func() bool { return record("maintenance/c1") == `"false"` }, "it was there")

	p.arrive("c2")
	p.until(func() bool { return record("maintenance/c2") == `"true"` })
	assert.Contains(t, record("maintenance-by/c2"), finding.Reason{Code: finding.ChassisIsNew}.String())
	assert.Contains(t, record("maintenance-by/c2"), holder.unit+", agent")
	p.idle()
	assert.Equal(t, []string{"c1"}, p.candidates("r0"))

	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:maintenance/c2"=false`)
	p.complete(2)
	p.depart("c2")
	p.arrive("c2")
	p.complete(2)
	assert.Equal(t, `"false"`, record("maintenance/c2"), "it is known by now")
}
