package raft

import (
	"fmt"
	"slices"
)

// Majority is the number of members of n that must be up.
func Majority(n int) int { return n/2 + 1 }

// Quorum counts a cluster's members and those that are up.
type Quorum struct {
	Members, Up int
	// Held reports whether a majority works with the leader now, even if fewer are up: some are connected in one
	// direction only ([Peer.OneWay]).
	Held bool
}

// Holds reports whether the members that are up are a majority.
func (q Quorum) Holds() bool { return q.Members > 0 && q.Up >= Majority(q.Members) }

// Tolerance is how many of the members that are up may still fail. It is negative without a majority.
func (q Quorum) Tolerance() int {
	tolerance := q.Up - Majority(q.Members)
	if q.Held {
		return max(0, tolerance)
	}
	return tolerance
}

// String is the arithmetic for people: "2 of 3 up, 2 needed".
func (q Quorum) String() string {
	return fmt.Sprintf("%d of %d up, %d needed", q.Up, q.Members, Majority(q.Members))
}

// quorumOf counts the members that are not gone; with a target as gone, it is the configuration after a change. Members
// that are taken down count as down.
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

// QuorumWithout counts the members of a cluster without a member whose server does not run, and those that are up by
// their answers on their client ports. members has all of them, including that one, with their Raft addresses. A member
// that has not answered, or reports that it is cut off, counts as down.
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

// Quorum counts the members of the view. Up is 0 if no leader that answers is known: then nothing can be committed.
func (v View) Quorum() Quorum {
	q := quorumOf(v.Peers(), nil, nil)
	if !v.LeaderUp() {
		q.Up = 0
	}
	q.Held = !q.Holds() && v.working().Holds()
	return q
}

// working counts the members that take part in what the leader commits now, over either connection.
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

// Leader is the member that this server considers the leader. If several share its four digits, it counts as up only if
// all of them are.
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
