package raft

import (
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// ProbeResult is a server's answer to a query on its client port for the database's row in `_Server` (ovsdb-server(5),
// table Database).
type ProbeResult struct {
	// Address is the member's Raft address.
	Address string
	// Server and Cluster are empty if the server does not know them yet.
	Server, Cluster ID
	// Connected is false while the server has no contact with a majority, or is joining or leaving.
	Connected bool
	Leader    bool
}

// View is one member's observation of its cluster.
type View struct {
	Status Status
	// Probes are the answers of the other members. On a leader they only provide full IDs. On other members they decide
	// about liveness.
	Probes []ProbeResult
	// CommitIndexFloor is an index that was already committed when an earlier status was read. A member that has not
	// stored it by now does not keep up. If it is 0, the committed index of Status is used; a healthy member may lack
	// its newest entries, which are still in flight.
	CommitIndexFloor uint64
	// Down are the members that units have recorded to take down (R5). They may be up now, but count as down.
	Down []ID
	// Leaving are the members whose own leave is recorded and not known to be done.
	Leaving []ID
	// ChangedBy is the unit that holds the lock of the membership (R5), or held it during this observation: its change
	// may be why members are down. It is empty if there is no such unit, and if all members are up.
	ChangedBy string
	// Lost are the members that are known to have lost entries of their logs. They still acknowledge these entries, so
	// they count as down on every unit.
	Lost []ID
	// Full reports whether this server's own disk is full. Then it can store nothing, and counts as down for itself, as
	// it does for a leader that waits for it.
	Full bool
	// Reached are the Raft addresses of members with which the operating system shows a connection of this server. They
	// are only needed if [Status.AmbiguousLinks].
	Reached []string
	// Names are full IDs from other sources: published by units, or recorded.
	Names []ID
	// Superseded are the clusters that this one replaced, without this one. SupersedesItself reports whether the
	// database lists its own cluster among them.
	Superseded       []ID
	SupersedesItself bool
	// GivenUp are the units that the recovery or restore that made this cluster gave up. MadeAt is its time by the clock
	// of the unit that made it; zero if not recorded.
	GivenUp []string
	MadeAt  time.Time
}

// Peer is a member with its observed state.
type Peer struct {
	Member
	// ID is the full server ID; empty if only its first four digits are known.
	ID ID
	Up bool
	// Noted reports whether the member is up, but counts as down: its unit has recorded that it takes it down, it has
	// lost entries, or its disk is full.
	Noted bool
	// Answers reports whether the member's server or client port has answered within the election timer, even if the
	// member does not count as up.
	Answers bool
	// Lost reports whether it is known to have lost entries of its log.
	Lost bool
	// OneWay reports whether it is up, but not connected with a majority in both directions.
	OneWay bool
	// Link is its connection with this server.
	Link Link
	// Leaving reports whether its own leave is recorded.
	Leaving bool
	// Why is the reason why the member counts as down.
	Why finding.Reason
	// Lag is the number of committed entries that the leader does not know to be stored by the member; 0 if unknown.
	Lag uint64
}

// Runs reports whether the member's server is up, even if the member counts as down because of [Peer.Noted] or
// [Peer.OneWay].
func (p Peer) Runs() bool { return p.Up || p.Noted || p.OneWay }

// Longest returns the longest known form of the ID.
func (p Peer) Longest() string {
	if p.ID != "" {
		return string(p.ID)
	}
	return p.Short
}

// Committed returns the index of the newest entry that the server knows to be committed. raft_unixctl_status() prints
// the number of entries after it.
func (s Status) Committed() uint64 {
	if s.NotCommitted >= s.Log.End {
		return 0
	}
	return s.Log.End - s.NotCommitted - 1
}

// SameMembers reports whether both statuses list the same servers.
func (s Status) SameMembers(o Status) bool { return slices.Equal(s.shortIDs(), o.shortIDs()) }

func (s Status) shortIDs() (all []string) {
	for _, m := range s.Servers {
		all = append(all, m.Short)
	}
	slices.Sort(all)
	return all
}

// HasMember reports whether the server is in this status's configuration, by the first four digits of its ID. It
// reports false for an empty ID.
func (s Status) HasMember(id ID) bool {
	return id != "" && slices.ContainsFunc(s.Servers, func(m Member) bool { return m.Short == id.Short() })
}

// MemberWithLeader reports whether this server is a plain member, neither joining nor leaving, and knows a leader.
// Such a server's log had caught up when it was added.
func (s Status) MemberWithLeader() bool { return s.State == ClusterMember && s.HasLeader() }

// ListsItself reports whether this server has no leader, and yet a log in which it is a member. Its addition may not be
// committed: a server that is restarted on such a log no longer asks to be added (raft_open() in ovsdb/raft.c).
func (s Status) ListsItself() bool {
	return (s.State == ClusterMember || s.State == Disconnected) && !s.HasLeader()
}

// HasLeader reports whether this server is a leader or follows one.
func (s Status) HasLeader() bool {
	return s.Leader != UnknownRef && s.Leader != "" && s.Role != Candidate && s.State != Disconnected
}

// CutOff reports whether this server has no leader and has heard no other member within the election timer, or leads
// and has heard no majority. `_Server` still calls such a server connected: a candidate until it has lost a second
// election in a row (candidate_retrying in raft.c), a leader until its next check of the majority, once per election
// timer. During an election, members hear each other.
func (s Status) CutOff() bool {
	heard := 0
	for _, m := range s.Servers {
		if !m.Self && s.fresh(m) {
			heard++
		}
	}
	switch {
	case s.Role == Leader:
		return 2*(heard+1) <= len(s.Servers)
	case s.HasLeader():
		return false
	}
	return heard == 0
}

// LeaderSilent reports whether this server follows a leader whose last message is older than the election timer: an
// election is imminent.
func (s Status) LeaderSilent() bool {
	leader, heard := s.find(func(m Member) bool { return m.Short == string(s.Leader) && !m.Self && m.LastMsg != nil })
	return heard && !s.fresh(leader)
}

// self returns the server's own row; false if the server is not in the configuration.
func (s Status) self() (Member, bool) { return s.find(func(m Member) bool { return m.Self }) }

func (s Status) find(fits func(Member) bool) (Member, bool) {
	if i := slices.IndexFunc(s.Servers, fits); i >= 0 {
		return s.Servers[i], true
	}
	return Member{}, false
}

// Lagging reports whether a member with a connection to this leader has not yet stored the entry reference, which was
// committed before. Then observe again: under load, entries are always in flight.
func (s Status) Lagging(reference uint64) bool {
	return s.Role == Leader && slices.ContainsFunc(s.Servers, func(m Member) bool {
		return !m.Self && s.fresh(m) && (m.Match == nil || *m.Match < reference)
	})
}

// Stored returns the newest entry on this leader's own disk, by its own row. known is false if the server does not
// lead or prints no such row. The server never counts an entry whose write or fsync has failed
// (raft_waiter_complete() in ovsdb/raft.c): a sole member then commits nothing more, and looks healthy.
func (s Status) Stored() (entry uint64, known bool) {
	self, found := s.self()
	if !found || s.Role != Leader || self.Match == nil {
		return 0, false
	}
	return *self.Match, true
}

// AmbiguousIDs reports whether two members share their first four digits, so that only their full IDs distinguish
// them.
func (s Status) AmbiguousIDs() bool {
	return len(slices.Compact(s.shortIDs())) < len(s.Servers)
}

func (s Status) fresh(m Member) bool { return m.LastMsg != nil && *m.LastMsg < s.ElectionTimer }

// Peers judges every member by R0. On the leader, a member is up if its last message is younger than the election
// timer, its log keeps up, and it is connected with the leader. (The connection of a killed server ends after
// milliseconds, for any election timer.) On other members, a member is up if it has answered on its client port, as
// the same server of the same cluster, in contact with a majority. In both cases it and a majority must be able to
// connect to each other in both directions ([Graph.withMajority]). A member counts as down if its state is unknown,
// or if it may be taken down at any moment.
func (v View) Peers() []Peer {
	peers := make([]Peer, 0, len(v.Status.Servers))
	links := v.Status.Graph(v.Reached).Links
	for i, m := range v.Status.Servers {
		p := Peer{Member: m, ID: v.fullID(m), Link: links[i]}
		p.assess(v)
		p.consider(v)
		peers = append(peers, p)
	}
	graph, serves := graphOf(peers)
	for i, with := range graph.withMajority(serves) {
		if serves[i] && !with {
			peers[i].Up, peers[i].OneWay, peers[i].Why.Code = false, true, peers[i].linkReason()
		}
	}
	return peers
}

// assess decides whether the member is up, by this unit's server and by the probes.
func (p *Peer) assess(v View) {
	switch {
	case p.Self:
		p.ID = v.Status.Server
		p.Up = v.Status.HasLeader()
		if !p.Up {
			p.Why.Code = finding.MemberLeaderless
		}
	case v.Status.Role == Leader:
		p.assessAsLeader(v)
	default:
		p.assessAsFollower(v)
	}
}

func (p *Peer) consider(v View) {
	if p.Up && !p.Self && p.isAny(v.Down) {
		p.Up, p.Noted, p.Why.Code = false, true, finding.MemberStopping
	}
	p.Leaving = p.isAny(v.Leaving)
	if p.isAny(v.Lost) {
		p.Noted, p.Lost = p.Noted || p.Up, true
		p.Up, p.Why = false, finding.Reason{Code: finding.MemberLostEntries}
	}
	if p.Self && v.Full && p.Up {
		p.Up, p.Noted, p.Why.Code = false, true, finding.MemberDiskFull
	}
}

func (p *Peer) assessAsLeader(v View) {
	reference := v.CommitIndexFloor
	if reference == 0 {
		reference = v.Status.Committed()
	}
	var match uint64
	if p.Match != nil {
		match = *p.Match
	}
	if match < reference {
		p.Lag = reference - match
	}
	p.Answers = v.Status.fresh(p.Member) && p.Link.any()
	switch {
	case p.LastMsg == nil:
		p.Why.Code = finding.MemberUnheard
	case !v.Status.fresh(p.Member):
		p.Why = finding.Reason{Code: finding.MemberSilent, Age: *p.LastMsg, Limit: v.Status.ElectionTimer}
	case !p.Link.any():
		p.Why.Code = finding.MemberDisconnected
	case p.Lag > 0:
		p.Why = finding.Reason{Code: finding.MemberBehind, Count: int(p.Lag)}
	default:
		p.Up = true
	}
}

func (p *Peer) assessAsFollower(v View) {
	answer, answered := v.probe(p.Member)
	p.Answers = answered
	switch {
	case !p.Link.any() && !(answered && answer.Connected):
		p.Why.Code = finding.MemberUnconnected
	case !answered:
		p.Why.Code = finding.MemberUnanswering
	case v.Status.Cluster == "" || answer.Cluster != v.Status.Cluster:
		p.Why.Code = finding.MemberElsewhere
	case !answer.Connected:
		p.Why.Code = finding.MemberCutOff
	default:
		p.Up = true
	}
}

// Hears reports whether the member has a connection to this server.
func (s Status) Hears(short string) bool {
	return slices.Contains(s.Connections, Connection{Peer: short, Incoming: true, Up: true})
}

// Responded reports whether a member has answered on its client port as a member of this cluster.
func (v View) Responded(m Member) bool {
	answer, found := v.probe(m)
	return found && v.Status.Cluster != "" && answer.Cluster == v.Status.Cluster
}

// Responding counts the other members that have answered. connected counts those of them that report contact with a
// majority.
func (v View) Responding() (answering, connected int) {
	for _, m := range v.Status.Servers {
		if m.Self || !v.Responded(m) {
			continue
		}
		answering++
		if answer, _ := v.probe(m); answer.Connected {
			connected++
		}
	}
	return answering, connected
}

// probe returns a member's answer, which it finds by address and identity. Another member may have taken over a stale
// member's address, and two members may share an identity.
func (v View) probe(m Member) (ProbeResult, bool) {
	i := slices.IndexFunc(v.Probes, func(a ProbeResult) bool {
		return a.Address == m.Address && a.Server.Short() == m.Short
	})
	if i < 0 {
		return ProbeResult{}, false
	}
	return v.Probes[i], true
}

// fullID returns the member's full ID: the one in its answer, otherwise the only known ID that begins with its four
// digits and is not another member's. If members share these digits, all but one must have answered.
func (v View) fullID(m Member) ID {
	if a, ok := v.probe(m); ok {
		return a.Server
	}
	taken := map[ID]bool{}
	for _, other := range v.Status.Servers {
		if other.Short != m.Short || other.same(m) {
			continue
		}
		a, answered := v.probe(other)
		switch {
		case other.Self:
			taken[v.Status.Server] = true
		case answered:
			taken[a.Server] = true
		default:
			return ""
		}
	}
	var found ID
	for _, id := range v.Names {
		if !strings.HasPrefix(string(id), m.Short) || id == found || taken[id] {
			continue
		}
		if found != "" {
			return ""
		}
		found = id
	}
	return found
}
