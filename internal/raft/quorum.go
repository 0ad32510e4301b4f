package raft

import (
	"fmt"
	"slices"
)

// Majority is the number of members that must be up for a cluster of n to work.
func Majority(n int) int { return n/2 + 1 }

// Quorum counts a cluster's members and those of them that are up.
type Quorum struct {
	Members, Up int
	// Held says that a majority works with the leader now, also if fewer are up: some are only
	// connected in one direction ([Peer.OneWay]).
	Held bool
}

// Holds says whether the members that are up are a majority.
func (q Quorum) Holds() bool { return q.Members > 0 && q.Up >= Majority(q.Members) }

// Tolerance is how many of the members that are up may still fail. It is
// negative where a majority is already missing.
func (q Quorum) Tolerance() int {
	tolerance := q.Up - Majority(q.Members)
	if q.Held {
		return max(0, tolerance)
	}
	return tolerance
}

// String is the arithmetic as people read it: "2 of 3 up, 2 needed".
func (q Quorum) String() string {
	return fmt.Sprintf("%d of %d up, %d needed", q.Up, q.Members, Majority(q.Members))
}

// quorumOf counts the members that are not gone: with a target as gone, it is
// the configuration after a change. Those that go down count as down.
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

// QuorumWithout counts the members of a cluster, and those of them that are up without a
// member whose server does not run: by what they have answered on their client ports.
// members has all of them, that one included, with their Raft addresses. A member that has not
// answered, or says that it is out of touch with the cluster, counts as down.
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

// Quorum counts the members of the view. Up is 0 where no leader that answers
// is known: then nothing can be committed, whichever members are reachable.
func (v View) Quorum() Quorum {
	q := quorumOf(v.Peers(), nil, nil)
	if !v.LeaderUp() {
		q.Up = 0
	}
	q.Held = !q.Holds() && v.working().Holds()
	return q
}

// working counts the members that take part in what the leader commits now, over whichever connection.
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

// LeaderUp says whether a leader is known and is itself up.
func (v View) LeaderUp() bool {
	_, up := v.Leader()
	return up
}

// Leader is the member that this server takes for the leader. Where several have
// its four digits, all of them must be up for it to be.
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
