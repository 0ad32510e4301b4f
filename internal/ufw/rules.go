// Package ufw restricts the ports of the databases with the host's ufw. Only the units and the CMS may use the members'
// Raft ports and the client ports without RBAC.
package ufw

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Comment marks the charm's rules. The previous charm marked its own in the same way, so this charm adopts them.
const Comment = "charm-ovn-central"

var (
	// peerPorts are a unit's ports for other units, in ascending order: ufw stores the ports of a rule in that order.
	peerPorts = []uint16{
		ovndb.NorthboundPort, ovndb.NorthboundRaftPort, ovndb.SouthboundRaftPort, ovndb.AgentPeerPort,
		ovndb.ManagementPort,
	}
	// clientPorts are a unit's ports for a CMS.
	clientPorts = []uint16{ovndb.NorthboundPort, ovndb.ManagementPort}
	// openPorts are for all addresses, for any default of the firewall.
	openPorts = []uint16{ovndb.SouthboundPort}
)

// Rules are the addresses that may connect to this unit. Other addresses reach only SB's client port.
type Rules struct {
	// Peers are the addresses of the other units, Clients those of the CMS. ufw does not filter traffic within the
	// machine.
	Peers, Clients []netip.Addr
}

type grant struct {
	port uint16
	from netip.Addr
}

// grants returns what the rules allow, by address and port in ascending order.
func (r Rules) grants() []grant {
	var all []grant
	for i, addr := range slices.Concat(r.Peers, r.Clients) {
		ports := peerPorts
		if i >= len(r.Peers) {
			ports = clientPorts
		}
		for _, port := range ports {
			all = append(all, grant{port, addr.Unmap().WithZone("")})
		}
	}
	slices.SortFunc(all, func(a, b grant) int {
		return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.port, b.port))
	})
	return slices.Compact(all)
}

// changes are the changes to make, in this order: addresses are admitted before any is denied.
type changes struct {
	// misplaced are our rules that follow another rule which makes them void. Each is removed and then added, since ufw
	// refuses to add an existing rule.
	misplaced []rule
	// admit are put before all other rules, forAll after them.
	admit, forAll []rule
	stale         []rule
}

// compare plans the changes from the present rules to the wanted ones. Rules of other programs and people stay and
// count: if one admits an address, or decides about a port for all addresses, none of ours is added.
func compare(have []rule, want Rules) changes {
	var p changes
	var kept []rule
	grants := want.grants()
	for _, r := range have {
		if r.ours && !r.wanted(grants) {
			p.stale = append(p.stale, r)
		} else {
			kept = append(kept, r)
		}
	}
	missing := slices.DeleteFunc(grants, func(g grant) bool { return admitted(kept, g) })
	for len(missing) > 0 {
		from := missing[0].from
		add := rule{action: allow, from: netip.PrefixFrom(from, from.BitLen()), ours: true}
		for len(missing) > 0 && missing[0].from == from {
			add.ports = append(add.ports, missing[0].port)
			missing = missing[1:]
		}
		p.admit = append(p.admit, add)
		if i := slices.IndexFunc(kept, add.same); i >= 0 && kept[i].ours {
			p.misplaced = append(p.misplaced, kept[i])
		}
	}
	p.forAll = slices.DeleteFunc(forAll(), func(r rule) bool {
		return decided(kept, r.ports[0], anywhere4) && decided(kept, r.ports[0], anywhere6)
	})
	return p
}

// forAll returns the wanted rules for all addresses, one for each port.
func forAll() (rules []rule) {
	for _, port := range slices.Concat(openPorts, peerPorts) {
		r := rule{action: allow, ports: []uint16{port}, from: anywhere4, ours: true}
		if slices.Contains(peerPorts, port) {
			r.action = reject
		}
		rules = append(rules, r)
	}
	return rules
}

// decided reports whether a rule for all addresses of a family names the port.
func decided(rules []rule, port uint16, anywhere netip.Prefix) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.from == anywhere && slices.Contains(r.ports, port) })
}

// wanted reports whether the charm would write this rule: the rule admits only granted addresses, and closes or opens
// only the ports that it should.
func (r rule) wanted(grants []grant) bool {
	return !slices.ContainsFunc(r.ports, func(port uint16) bool {
		switch {
		case r.forAny() && r.action == reject:
			return !slices.Contains(peerPorts, port)
		case r.forAny() && r.action == allow:
			return !slices.Contains(openPorts, port)
		}
		return r.action != allow || !r.from.IsSingleIP() || !slices.Contains(grants, grant{port, r.from.Addr()})
	})
}

func (r rule) same(other rule) bool {
	return r.action == other.action && r.from == other.from && slices.Equal(r.ports, other.ports)
}

// admitted reports whether the first matching rule admits g. In ufw, the first matching rule decides.
func admitted(rules []rule, g grant) bool {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.matches(g) })
	return i >= 0 && rules[i].action == allow
}

// words returns the rule as a person types it, without the comment.
func (r rule) words() []string {
	words := []string{string(r.action)}
	switch {
	case r.forAny():
	case r.from.IsSingleIP():
		words = append(words, "from", r.from.Addr().String())
	default:
		words = append(words, "from", r.from.String())
	}
	ports := strings.ReplaceAll(strings.Trim(fmt.Sprint(r.ports), "[]"), " ", ",")
	return append(words, "to", "any", "port", ports, "proto", "tcp")
}
