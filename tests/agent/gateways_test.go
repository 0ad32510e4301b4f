package agent

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
)

func (p *plane) members() string {
	var all []string
	for n := range hub {
		all = append(all, p.servers[n].Endpoint())
	}
	return strings.Join(all, ",")
}

func (p *plane) nb(args ...string) string {
	p.t.Helper()
	if p.machines != nil { // a member that was cut off may have no leader for a while, and then ends the connection
		var out []byte
		eventually(p.t, func() (done bool) {
			var err error
			all := append([]string{"--timeout=5", "--db=" + p.members()}, args...)
			out, err = exec.CommandContext(p.t.Context(), "ovn-nbctl", all...).Output()
			return err == nil
		}, patience, 200*time.Millisecond, args)
		return string(out)
	}
	all := append([]string{"--timeout=20", "--no-leader-only", "--db=" + p.servers[0].Endpoint()}, args...)
	return p.run("ovn-nbctl", all...)
}

func (p *plane) sb(args ...string) {
	p.t.Helper()
	p.run("ovn-sbctl", append([]string{"--timeout=20", "--db=" + p.south.Endpoint()}, args...)...)
}

func (p *plane) arrive(name string) {
	p.t.Helper()
	p.sb("chassis-add", name, "geneve", "10.1.0."+strings.TrimPrefix(name, "c"),
		"--", "set", "Chassis", name, "hostname="+name, "other_config:ovn-cms-options=enable-chassis-as-gw",
		"other_config:ovn-bridge-mappings=net:br-ex",
		"--", "--id=@e", "get", "Chassis", name, "--", "create", "Chassis_Private", "name="+name, "chassis=@e")
}

func (p *plane) depart(name string) {
	p.t.Helper()
	p.sb("chassis-del", name)
}

// populate makes the chassis and gateways of [newCloud].
func (p *plane) populate(chassis, gateways int) {
	p.t.Helper()
	p.nb("init")
	for n := range chassis {
		p.arrive(fmt.Sprint("c", n+1))
	}
	p.gateways(gateways)
}

// backups makes c2 and c3 candidates of the first gateways, after c1.
func (p *plane) backups(gateways int) {
	p.t.Helper()
	for i := range gateways {
		port := fmt.Sprint("lrp-r", i)
		p.nb("lrp-set-gateway-chassis", port, "c2", "3", "--", "lrp-set-gateway-chassis", port, "c3", "1")
	}
}

func (p *plane) gateways(n int) {
	p.t.Helper()
	args := []string{
		"ls-add", "ext", "--", "lsp-add", "ext", "provnet", "--", "lsp-set-type", "provnet", "localnet",
		"--", "lsp-set-options", "provnet", "network_name=net",
	}
	for i := range n {
		args = append(args, "--")
		args = append(args, router(fmt.Sprint("r", i), i+1, fmt.Sprintf("10.%d.%d.1/24", i/256, i%256))...)
	}
	p.nb(args...)
}

// router returns the arguments that make a router with a gateway on the chassis c1.
func router(name string, mac int, network string) []string {
	port, outer := "lrp-"+name, "ext-"+name
	return []string{
		"lr-add", name, "--", "lrp-add", name, port, fmt.Sprintf("02:00:00:00:%02x:%02x", mac/256, mac%256), network,
		"--", "lrp-set-gateway-chassis", port, "c1", "5",
		"--", "lsp-add", "ext", outer, "--", "lsp-set-type", outer, "router",
		"--", "lsp-set-options", outer, "router-port=" + port,
	}
}

// candidates returns the candidates of a router's gateway, best first.
func (p *plane) candidates(router string) (names []string) {
	p.t.Helper()
	for line := range strings.Lines(p.nb("lrp-get-gateway-chassis", "lrp-"+router)) {
		names = append(names, strings.TrimPrefix(strings.Fields(line)[0], "lrp-"+router))
	}
	for i, n := range names {
		names[i] = strings.TrimLeft(n, "_-")
	}
	return names
}

func (p *plane) complete(candidates int) {
	p.t.Helper()
	for i := range 3 {
		p.has(fmt.Sprint("r", i), candidates)
	}
}

type noted struct {
	ID, By    string
	Operation string
	Number    int
	At        time.Time
	Changes   []schedule.AppliedChange
	row       string
}

// journal returns the author of each record of a gateway change.
func (p *plane) journal() (by []string) {
	p.t.Helper()
	for _, one := range p.changes() {
		by = append(by, one.By)
	}
	return by
}

// changes returns the records of changes in order, without layouts and operations that changed no gateway.
func (p *plane) changes() (all []noted) {
	p.t.Helper()
	var table struct{ Data [][]any }
	out := p.nb("--format=json", "--columns=_uuid,external_ids", "find", "DNS",
		"external_ids:ovn-central-operator=gateways")
	require.NoError(p.t, json.Unmarshal([]byte(out), &table))
	for _, row := range table.Data {
		one := noted{row: fmt.Sprint(row[0])}
		for _, pair := range row[1].([]any)[1].([]any) { //nolint:forcetypeassert // a map, as ovsdb(7) writes it
			if kv := pair.([]any); kv[0] == "ovn-central-operator:plan" { //nolint:forcetypeassert // as above
				require.NoError(p.t, json.Unmarshal([]byte(kv[1].(string)), &one)) //nolint:forcetypeassert // as above
			}
		}
		if one.Changes != nil || one.Operation == "reschedule" { // an interrupted run may have no changes
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b noted) int {
		if a.ID == b.ID {
			return a.Number - b.Number
		}
		return a.At.Compare(b.At)
	})
	return all
}

// 003-3, 004: a chassis that comes, or goes for good, is handled once, by the acting unit; masters stay.
func TestAgent_chassis_change_is_handled_once(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 1, 3, "--mode", "on", "--hold-down", "2s")
	holder := p.holder(p.agents...)
	p.arrive("c2")
	p.arrive("c3")
	p.until(func() bool {
		held := p.status(holder).Gateways.HeldDown
		return len(held) > 0 && held[0].Name[0] == 'c' && held[0].ForSeconds > 0 && held[0].ForSeconds <= 2
	}, "what is held down is not reported")
	p.complete(3)
	for i := range 3 {
		assert.Equal(t, "c1", p.candidates(fmt.Sprint("r", i))[0], "the master stays")
	}
	p.depart("c3")
	p.complete(2)
	p.until(func() bool { return p.calm(holder) && len(p.status(holder).Gateways.Orphans) == 0 })
	by := p.journal()
	assert.LessOrEqual(t, len(by), 3, "%v", by)
	for _, one := range by {
		assert.Equal(t, holder.unit+", agent", one)
	}
	s := p.status(holder).Gateways
	require.NotNil(t, s.Last)
	assert.Equal(t, 3, s.Last.Gateways)
	assert.Len(t, s.Last.Reasons, 1)
	p.idle()
}

// R14, 003-7: the next holder handles the events of the gap. The holder that slept neither acts nor changes anything.
func TestLease_holder_that_slept_changes_nothing(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 3, 3, "--mode", "on", "--hold-down", "2s")
	first := p.holder(p.agents...)
	p.complete(3)
	done := len(p.journal())
	require.NoError(t, first.Signal(syscall.SIGSTOP))
	p.depart("c3") // before another agent has noticed that the holder is gone
	next, _ := p.replaced(first, time.Now())
	p.complete(2)
	require.NoError(t, first.Signal(syscall.SIGCONT))
	answers := 0
	always(t, func() bool {
		var said lease.Answer
		if json.Unmarshal([]byte(p.get(first, "/lease")), &said) == nil {
			answers++
		}
		return !said.Acts && p.name(first) != first.unit
	}, ttl, 0)
	assert.Positive(t, answers)
	p.arrive("c4")
	p.complete(3)
	p.until(func() bool { return p.all(p.agents, next.unit) })
	for i, by := range p.journal() {
		assert.Equal(t, map[bool]string{true: first.unit, false: next.unit}[i < done]+", agent", by)
	}
}

// A gateway that loses its host shows in the metrics although nothing changes in the Northbound database.
func TestAgent_lost_binding_is_counted(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 1, 1)
	unbound := func(n int) {
		t.Helper()
		line := fmt.Sprintf(`gateways_by_finding{finding="GATEWAY_UNBOUND"} %d`, n)
		p.until(func() bool { return strings.Contains(p.get(p.agents[0], "/metrics"), line) })
	}
	unbound(1)
	p.sb("--id=@c", "get", "Chassis", "c1", "--", "--id=@d", "create", "Datapath_Binding", "tunnel_key=1", "--",
		"create", "Port_Binding", "logical_port=cr-lrp-r0", "type=chassisredirect",
		"tunnel_key=1", "datapath=@d", "chassis=@c")
	unbound(0)
	p.sb("clear", "Port_Binding", "cr-lrp-r0", "chassis")
	unbound(1)
}
