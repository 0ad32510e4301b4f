package maintenance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Unit is a unit of the charm, with the name and the addresses of its machine.
type Unit struct {
	Name     string
	Hostname string
	// Addresses have no ports.
	Addresses []string
}

// Member is a server of a database's cluster.
type Member struct {
	// Database is the database's name, such as OVN_Northbound.
	Database string `json:"database"`
	// Short is the first four digits of the member's ID, Address its Raft address, and Host that address without its port.
	Short   string `json:"id"`
	Address string `json:"address"`
	Host    string `json:"-"`
	// Unit is the unit of the model that the member belongs to, if that is known.
	Unit string `json:"-"`
}

// same reports whether both are the same member, even if their units differ.
func (m Member) same(o Member) bool {
	return m.Database == o.Database && m.Short == o.Short && m.Address == o.Address
}

func (m Member) text() string {
	return fmt.Sprintf("member %s of %s at %s", m.Short, m.Database, m.Address)
}

// Charm describes the application: its units, and the members of both clusters.
type Charm struct {
	Units   []Unit
	Members []Member
	// Unknown tells what could not be read; there may be more units and members.
	Unknown []finding.Reason
}

// Add records a unit's address.
func (c *Charm) Add(unit, address string) {
	at := slices.IndexFunc(c.Units, func(u Unit) bool { return u.Name == unit })
	if at < 0 {
		c.Units = append(c.Units, Unit{Name: unit, Addresses: []string{address}})
	} else if !slices.Contains(c.Units[at].Addresses, address) {
		c.Units[at].Addresses = append(c.Units[at].Addresses, address)
	}
}

// On returns the units and members on a node's machine. Units match by an address or by the machine's name. Members
// match by their address, by their unit, or because they were there when the node's drain began.
//
// claim describes the data by which they matched. The chassis writes these data itself, and may write anything, so only
// a person can check them.
func (c Charm) On(n Node) (units []string, members []Member, claim finding.ReasonCode) {
	host, tunnel := false, false
	has := func(address string) bool { return slices.Contains(n.Addresses, address) }
	for _, u := range c.Units {
		byName, byAddress := sameHost(u.Hostname, n.Hostname), slices.ContainsFunc(u.Addresses, has)
		if byName || byAddress {
			units = append(units, u.Name)
		}
		host, tunnel = host || byName, tunnel || byAddress
	}
	for _, m := range c.Members {
		drained := n.Drain != nil && slices.ContainsFunc(n.Drain.Members, m.same)
		if drained || m.Unit != "" && slices.Contains(units, m.Unit) || has(m.Host) {
			members = append(members, m)
		}
		tunnel = tunnel || has(m.Host)
	}
	return units, members, claimed(host, tunnel, len(members) > 0)
}

// claimed returns the data of a chassis by which units and members matched: its host name, its tunnel address, or the
// record from the beginning of its drain.
func claimed(host, tunnel, drained bool) finding.ReasonCode {
	switch {
	case host && tunnel:
		return finding.ClaimsHostAndTunnel
	case host:
		return finding.ClaimsHost
	case tunnel:
		return finding.ClaimsTunnel
	case drained:
		return finding.ClaimedBefore
	}
	return ""
}

// sameHost reports whether two names may be those of one machine. It compares domains only if both names have one.
func sameHost(a, b string) bool {
	shortA, _, qualifiedA := strings.Cut(strings.ToLower(a), ".")
	shortB, _, qualifiedB := strings.Cut(strings.ToLower(b), ".")
	if qualifiedA && qualifiedB {
		return strings.EqualFold(a, b)
	}
	return shortA != "" && shortA == shortB
}

// memberHold returns the hold of the charm's units and members on a node's machine; its count is 0 if there are none.
func memberHold(units []string, members []Member, claim finding.ReasonCode) Hold {
	reason := finding.Reason{Code: claim}.String()
	h := Hold{Name: HoldMember, Derived: true, Examples: slices.Clone(units), Note: Note{Reason: reason}}
	for _, m := range members {
		if !slices.Contains(units, m.Unit) {
			h.Examples = append(h.Examples, m.text())
		}
	}
	h.Count = len(h.Examples)
	return h
}
