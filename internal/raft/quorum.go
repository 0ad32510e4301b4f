package raft

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Majority returns how many of n members must be up.
func Majority(n int) int { return n/2 + 1 }

// Quorum counts a cluster's members and those that are up.
type Quorum struct {
	Members, Up int
	// Held reports whether a majority works with the leader now, even if fewer members count as up because some are
	// connected in one direction only ([Peer.OneWay]).
	Held bool
}

// Holds reports whether the members that are up are a majority.
func (q Quorum) Holds() bool { return q.Members > 0 && q.Up >= Majority(q.Members) }

// Tolerance returns how many of the members that are up may still fail. It is negative without a majority.
func (q Quorum) Tolerance() int {
	tolerance := q.Up - Majority(q.Members)
	if q.Held {
		return max(0, tolerance)
	}
	return tolerance
}

// String returns the counts for people: "2 of 3 up, 2 needed".
func (q Quorum) String() string {
	return finding.Tally{Up: q.Up, Members: q.Members}.String()
}

// quorumOf counts the members for which gone is false. If gone is true for a target, the result is the configuration
// after the change. Members for which down is true count as down.
func quorumOf(peers []Peer, gone, down func(Peer) bool) Quorum {
	var rest []Peer
	for _, p := range peers {
		if gone != nil && gone(p) {
			continue
		}
		if down != nil && down(p) {
			p.Up, p.OneWay = false, false
		}
		rest = append(rest, p)
	}
	q := Quorum{Members: len(rest)}
	graph, serves := graphOf(rest)
	for _, with := range graph.withMajority(serves) {
		if with {
			q.Up++
		}
	}
	return q
}

// QuorumWithout counts the members of a cluster, and those that are up, for a member whose own server does not run.
// members has the Raft addresses of all members, including that one. A member is up if it has answered on its client
// port and does not report that it is cut off.
func QuorumWithout(members map[ID]string, cluster ID, answers []ProbeResult) Quorum {
	q := Quorum{Members: len(members)}
	for id, address := range members {
		if slices.ContainsFunc(answers, func(a ProbeResult) bool {
			return a.Server == id && a.Address == address && a.Cluster == cluster && a.Connected
		}) {
			q.Up++
		}
	}
	return q
}

// Quorum counts the members of the view. Up is 0 if no answering leader is known: then nothing can be committed.
func (v View) Quorum() Quorum {
	q := quorumOf(v.Peers(), nil, nil)
	if !v.LeaderUp() {
		q.Up = 0
	}
	q.Held = !q.Holds() && v.working().Holds()
	return q
}

// working counts the members that take part in the leader's commits now, over a connection in either direction.
func (v View) working() Quorum {
	q := Quorum{Members: len(v.Status.Servers)}
	if !v.LeaderUp() {
		return q
	}
	for _, p := range v.Peers() {
		if p.Up || p.OneWay {
			q.Up++
		}
	}
	return q
}

// LeaderUp reports whether a leader is known and up.
func (v View) LeaderUp() bool {
	_, up := v.Leader()
	return up
}

// Leader returns the member that this server considers the leader. If several members share its four digits, up
// reports whether all of them are up.
func (v View) Leader() (leader Peer, up bool) {
	if !v.Status.HasLeader() {
		return Peer{}, false
	}
	for _, p := range v.Peers() {
		if v.Status.Leader == Self && !p.Self || v.Status.Leader != Self && p.Short != string(v.Status.Leader) {
			continue
		}
		if leader = p; !p.Runs() || !p.Self && !p.Link.any() {
			return p, false
		}
	}
	return leader, leader.Runs() || v.Status.Leader == Self
}
