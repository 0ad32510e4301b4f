package raft

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Link is the pair of connections between a member and the server of the status.
type Link struct {
	// From reports whether the member has connected to the server, To whether the server has connected to the member.
	From, To bool
}

func (l Link) any() bool { return l.From || l.To }

// OneWay reports whether only one of the two can connect to the other.
func (l Link) OneWay() bool { return l.From != l.To }

// Graph has the connections between members that one member's status shows. A server both accepts and makes
// connections, and sends messages over either. Only two servers that can't connect to each other in any direction are
// cut off from each other.
type Graph struct {
	// Links are this server's connections with the members, in the order of [Status.Servers].
	Links []Link
	// Self is the server's own position in the configuration; -1 if it is not a member.
	Self int
}

// Graph returns the graph of the status. A server does not learn the ID of the member through which it joined, and
// prints that connection as "->0000". If only some of these connections are up, reached must have the addresses of
// their members, which the operating system knows; without it, none of them counts.
func (s Status) Graph(reached []string) Graph {
	g := Graph{Self: -1}
	unnamed, broken := s.unnamed(true), s.unnamed(false)
	// There is one connection to each address, even if a stale and a new member share it.
	named := map[string]bool{}
	to := map[string]bool{}
	for _, m := range s.Servers {
		for _, c := range s.Connections {
			if c.Peer == m.Short && !c.Incoming {
				named[m.Address], to[m.Address] = true, to[m.Address] || c.Up
			}
		}
	}
	for i, m := range s.Servers {
		l := Link{From: s.Hears(m.Short), To: to[m.Address]}
		if !named[m.Address] && unnamed {
			l.To = !broken || slices.Contains(reached, m.Address)
		}
		if m.Self {
			l, g.Self = Link{}, i
		}
		g.Links = append(g.Links, l)
	}
	return g
}

// unnamedPeer replaces the ID of a member that the server has not learned.
const unnamedPeer = "0000"

// AmbiguousLinks reports whether [Status.Graph] needs the addresses of reached members.
func (s Status) AmbiguousLinks() bool { return s.unnamed(true) && s.unnamed(false) }

// unnamed reports whether a connection in this state leads to a member with an unknown ID.
func (s Status) unnamed(up bool) bool {
	return slices.ContainsFunc(s.Connections, func(c Connection) bool {
		return !c.Incoming && c.Peer == unnamedPeer && c.Up == up
	})
}

// twoWay reports whether two members can connect to each other. The status does not show connections between two other
// members: they count as connected unless this server can't connect to one of them.
func (g Graph) twoWay(a, b int) bool {
	switch {
	case a == g.Self:
		return g.Links[b].From && g.Links[b].To
	case b == g.Self:
		return g.Links[a].From && g.Links[a].To
	}
	return g.Links[a].To && g.Links[b].To
}

// withMajority reports for each member whether it serves and is connected with a majority in both directions. If
// fewer than a majority serve, connections are ignored: each serving member counts.
func (g Graph) withMajority(serves []bool) []bool {
	with := slices.Clone(serves)
	all := 0
	for _, s := range serves {
		if s {
			all++
		}
	}
	if needed := Majority(len(serves)); all >= needed {
		for a := range serves {
			n := 1
			for b := range serves {
				if a != b && serves[b] && g.twoWay(a, b) {
					n++
				}
			}
			with[a] = serves[a] && n >= needed
		}
	}
	return with
}

// graphOf returns the graph of assessed members, and which of them serve.
func graphOf(peers []Peer) (g Graph, serves []bool) {
	g.Self = -1
	for i, p := range peers {
		if p.Self {
			g.Self = i
		}
		g.Links, serves = append(g.Links, p.Link), append(serves, p.Up || p.OneWay)
	}
	return g, serves
}

// linkReason returns why a member counts as down that is not connected with a majority in both directions.
func (p Peer) linkReason() finding.ReasonCode {
	switch {
	case p.Self || p.Link.From && p.Link.To:
		return finding.MemberApart
	case p.Link.From && !p.Link.To:
		return finding.MemberUnreached
	case p.Link.To && !p.Link.From:
		return finding.MemberUnreaching
	}
	return finding.MemberUnlinked
}

// HearsLeader reports whether this server follows a leader that it has heard within the election timer, over an
// existing connection in either direction. A leader that has no majority for that long steps down (raft.c, raft_run()),
// so there is a quorum.
func (s Status) HearsLeader() bool {
	if !s.HasLeader() {
		return false
	}
	var all []string
	for _, m := range s.Servers {
		all = append(all, m.Address)
	}
	links := s.Graph(all).Links // any connection that may be the leader's counts: the leader was heard
	for i, m := range s.Servers {
		if m.Short == string(s.Leader) && !m.Self && s.fresh(m) && links[i].any() {
			return true
		}
	}
	return s.Leader == Self
}
