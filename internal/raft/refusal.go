package raft

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// NoQuorum reports whether a change is refused because no leader with a majority is known. The cause may be an
// election.
func (p Plan) NoQuorum() bool {
	return p.Refusal != nil && slices.Contains([]finding.Code{finding.NoQuorum, finding.NoLeader, finding.LeaderUnseen},
		p.Refusal.Code)
}

func (p *Plan) refuse(code finding.Code, args finding.Args) {
	f := finding.Of(code, p.Database, args)
	p.Refusal = &f
}

// refuseForQuorum refuses because too few members would be up. It names the remaining members that are down, and those
// whose ports are closed to others.
func (p *Plan) refuseForQuorum(worst Quorum, peers []Peer, gone func(Peer) bool) {
	args := finding.Args{
		Member: p.Target.server(), Count: p.Before.Up, Total: p.Before.Members,
		After: finding.Tally{Up: worst.Up, Members: worst.Members},
	}
	var own []finding.Server
	stays := slices.ContainsFunc(peers, func(p Peer) bool { return p.Self && !gone(p) })
	for _, peer := range peers {
		switch {
		case gone(peer) || peer.Up:
		case peer.OneWay && peer.Self:
			own = append(own, peer.server())
		case peer.OneWay && !stays && peer.Link.To: // other members may connect to it
		case peer.OneWay:
			args.OneWay = append(args.OneWay, peer.server())
		default:
			args.Down = append(args.Down, peer.server())
			p.Blockers = append(p.Blockers, peer)
		}
	}
	if len(args.OneWay)+len(args.Down) == 0 {
		args.OneWay = own // if others are listed, this server is only cut off with them
	}
	p.refuse(finding.QuorumWouldBeLost, args)
}

// server returns the member in the form of findings.
func (p Peer) server() finding.Server {
	return finding.Server{ID: p.Longest(), Address: p.Address, Reason: p.Why}
}

func servers(peers []Peer) (all []finding.Server) {
	for _, p := range peers {
		all = append(all, p.server())
	}
	return all
}

// refuseWithoutLeader refuses because no leader is known, or because the leader is not known to be up.
func (p *Plan) refuseWithoutLeader(v View) {
	s := v.Status
	if leader, _ := v.Leader(); s.HasLeader() && leader.Short != "" {
		p.refuse(finding.LeaderUnseen, finding.Args{Member: leader.server(), Reasons: []finding.Reason{leader.Why}})
		return
	}
	p.refuse(finding.NoLeader, finding.Quote(fmt.Sprintf("%s, %s", s.State, s.Role)).Args())
}

func (p *Plan) refuseWithoutMajority() {
	up := finding.Reason{Code: finding.UpNow, Count: p.Before.Up, Total: p.Before.Members}
	p.refuse(finding.NoQuorum, finding.Args{Count: p.Before.Up, Total: p.Before.Members, Reasons: []finding.Reason{up}})
}
