package firewall

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// changes are the changes to make, in this order: addresses that may connect are admitted before any is denied, and
// those that no longer may are denied last.
type changes struct {
	// misplaced are our rules after another one that makes them void; each is removed and added, since ufw refuses to
	// add an existing one.
	misplaced []rule
	// admit go before all others, then open and closed after them.
	admit        []rule
	open, closed []uint16
	stale        []rule
}

// compare plans the changes from the present to the wanted rules. Rules of others stay and count: if one admits an
// address, or decides about a port for all addresses, none of ours is added.
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
	p.open = undecided(kept, openPorts)
	p.closed = undecided(kept, peerPorts)
	return p
}

// wanted reports whether the charm would write this rule: it admits only granted addresses, and closes or opens only
// the ports that it should.
func (r rule) wanted(grants []grant) bool {
	anywhere := r.from == anywhere4 || r.from == anywhere6
	for _, port := range r.ports {
		switch {
		case anywhere && r.action == reject:
			if !slices.Contains(peerPorts, port) {
				return false
			}
		case anywhere && r.action == allow:
			if !slices.Contains(openPorts, port) {
				return false
			}
		case r.action != allow || !r.from.IsSingleIP() || !slices.Contains(grants, grant{port, r.from.Addr()}):
			return false
		}
	}
	return true
}

func (r rule) same(other rule) bool {
	return r.action == other.action && r.from == other.from && slices.Equal(r.ports, other.ports)
}

// admitted reports whether the first matching rule admits it, as ufw decides.
func admitted(rules []rule, g grant) bool {
	for _, r := range rules {
		if r.matches(g) {
			return r.action == allow
		}
	}
	return false
}

// undecided are the ports for which some family has no rule for all addresses.
func undecided(rules []rule, ports []uint16) []uint16 {
	four, six := undecidedIn(rules, ports, anywhere4), undecidedIn(rules, ports, anywhere6)
	return slices.DeleteFunc(slices.Clone(ports), func(port uint16) bool {
		return !slices.Contains(four, port) && !slices.Contains(six, port)
	})
}

// undecidedIn are those for which this family has none.
func undecidedIn(rules []rule, ports []uint16, anywhere netip.Prefix) []uint16 {
	return slices.DeleteFunc(slices.Clone(ports), func(port uint16) bool {
		return slices.ContainsFunc(rules, func(r rule) bool { return r.forAll(port, anywhere) })
	})
}

// words are the rule as a person types it, without action and comment.
func (r rule) words() []string {
	var ports []string
	for _, port := range r.ports {
		ports = append(ports, fmt.Sprint(port))
	}
	words := []string{"to", "any", "port", strings.Join(ports, ","), "proto", "tcp"}
	if r.from == anywhere4 || r.from == anywhere6 {
		return words
	}
	from := r.from.String()
	if r.from.IsSingleIP() {
		from = r.from.Addr().String()
	}
	return append([]string{"from", from}, words...)
}
