package raft

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ProbeResult is what a server said of itself when its client port was asked for
// the row of the database in `_Server` (ovsdb-server(5), table Database).
type ProbeResult struct {
	// Address is the Raft address of the member that was asked.
	Address string
	// Server and Cluster are empty where the server has not got them yet.
	Server, Cluster ID
	// Connected is false while the server is not in touch with a majority, or
	// is joining or leaving.
	Connected bool
	Leader    bool
}

// View is everything that one member can find out about its cluster at one
// moment.
type View struct {
	Status Status
	// Probes are those of the other members that answered in time. On a leader
	// they only tell full IDs; elsewhere liveness depends on them.
	Probes []ProbeResult
	// CommitIndexFloor is a log index that was already committed when an earlier status
	// was read; a member that has not stored it by now does not keep up. 0: the
	// committed index of Status itself, which a healthy member may miss by the
	// entries that are on their way.
	CommitIndexFloor uint64
	// Down are the members that their units have noted to take down (rule R5): they
	// may be up now, and count as down.
	Down []ID
	// Leaving are the members that have noted that they leave by themselves, and not yet
	// that they are out.
	Leaving []ID
	// ChangedBy is the unit that holds the lock of the membership (rule R5), or has held it while this
	// view came about: members may be down for what it does. "" where there is none, and where
	// all members are up.
	ChangedBy string
	// Lost are the members that are known to have lost entries of their logs, which
	// they acknowledge all the same: they count as down on every unit.
	Lost []ID
	// Full says that this server's own disk is full: it can store nothing more, and counts
	// as down, as it does for a leader that waits for it.
	Full bool
	// Reached are the Raft addresses of members to which a connection of this server stands, by what the system
	// says; only needed with [Status.AmbiguousLinks].
	Reached []string
	// Names are full IDs known from elsewhere: published by units, or recorded.
	Names []ID
	// Superseded are the clusters in whose place this one was put. SupersedesItself says that the database
	// names its own cluster among them, which is left out.
	Superseded       []ID
	SupersedesItself bool
	// GivenUp are the units that the recovery or restore which made this cluster has given up, and MadeAt is when
	// that was, by the clock of the unit that made it; zero if it does not say.
	GivenUp []string
	MadeAt  time.Time
}

// Peer is a member together with what was found out about it.
type Peer struct {
	Member
	// ID is the full server ID; empty where only its first four digits are
	// known.
	ID ID
	Up bool
	// Noted says that it is up but for its unit's note that it takes it down, or that it
	// has lost entries, or that its disk is full.
	Noted bool
	// OneWay says that it is up, and that it and a majority can't connect to each other in both directions.
	OneWay bool
	// Link is what connects it with this server.
	Link Link
	// Leaving says that its own leave is noted.
	Leaving bool
	// Why says what a member that is not up failed to do.
	Why string
	// Lag is the number of committed entries that the leader has not seen it
	// store; 0 where not known.
	Lag uint64
}

// Runs says whether its server is up, though it may count as down for a reason of its own
// ([Peer.Noted]), or for its connections ([Peer.OneWay]).
func (p Peer) Runs() bool { return p.Up || p.Noted || p.OneWay }

// Longest is the longest form of the ID that is known.
func (p Peer) Longest() string {
	if p.ID != "" {
		return string(p.ID)
	}
	return p.Short
}

// Committed is the index of the newest entry that the server knows to be
// committed (raft_unixctl_status() prints the number of entries after it).
func (s Status) Committed() uint64 {
	if s.NotCommitted >= s.Log.End {
		return 0
	}
	return s.Log.End - s.NotCommitted - 1
}

// SameMembers says whether both statuses list the same servers.
func (s Status) SameMembers(o Status) bool {
	short := func(members []Member) (all []string) {
		for _, m := range members {
			all = append(all, m.Short)
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(short(s.Servers), short(o.Servers))
}

// HasMember says whether the server stands in the configuration that this one shows, by the four
// digits of its ID; false without an ID.
func (s Status) HasMember(id ID) bool {
	return id != "" && slices.ContainsFunc(s.Servers, func(m Member) bool { return m.Short == id.Short() })
}

// MemberWithLeader says whether this server is a plain member, neither joining nor leaving, that
// knows a leader: its log was caught up when it was added.
func (s Status) MemberWithLeader() bool { return s.State == ClusterMember && s.HasLeader() }

// HasLeader says whether this server knows a leader that it follows, or is it.
func (s Status) HasLeader() bool {
	return s.Leader != UnknownRef && s.Leader != "" && s.Role != Candidate && s.State != Disconnected
}

// CutOff says whether this server has no leader and has heard no other member within the election
// timer, or leads and has heard no majority. `_Server` goes on to call it connected: until a second
// election in a row was not won (candidate_retrying in raft.c), and of a leader that looks at its
// majority once in an election timer only. While members elect, they hear each other.
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

// LeaderSilent says whether this server follows a leader whose last message is older than the election
// timer: it is about to elect another one.
func (s Status) LeaderSilent() bool {
	for _, m := range s.Servers {
		if m.Short == string(s.Leader) && !m.Self && m.LastMsg != nil {
			return !s.fresh(m)
		}
	}
	return false
}

// self is the server's own row; false while it is not in the configuration.
func (s Status) self() (Member, bool) {
	for _, m := range s.Servers {
		if m.Self {
			return m, true
		}
	}
	return Member{}, false
}

// Lagging says whether a member that is in touch with this leader has not yet
// stored what was committed at reference: worth looking again, since under load
// entries are always on their way.
func (s Status) Lagging(reference uint64) bool {
	if s.Role != Leader {
		return false
	}
	for _, m := range s.Servers {
		if !m.Self && s.fresh(m) && (m.Match == nil || *m.Match < reference) {
			return true
		}
	}
	return false
}

// Stored is the newest entry that this leader itself has on its disk, as its own row
// says; false where it does not lead, or prints no such row. An entry whose write or
// fsync has failed is never counted (raft_waiter_complete() in ovsdb/raft.c): a sole
// member then commits nothing more, and looks healthy.
func (s Status) Stored() (entry uint64, known bool) {
	self, found := s.self()
	if !found || s.Role != Leader || self.Match == nil {
		return 0, false
	}
	return *self.Match, true
}

// AmbiguousIDs says whether two members share their four digits, so that only their
// whole IDs tell them apart.
func (s Status) AmbiguousIDs() bool {
	seen := map[string]bool{}
	for _, m := range s.Servers {
		if seen[m.Short] {
			return true
		}
		seen[m.Short] = true
	}
	return false
}

func (s Status) fresh(m Member) bool { return m.LastMsg != nil && *m.LastMsg < s.ElectionTimer }

// Peers judges every member by rule R0. On the leader a member is up if and
// only if its last message is younger than the election timer, its log keeps up,
// and a connection between it and the leader stands: that of a server that was killed is
// gone after milliseconds, whatever the election timer. Elsewhere it is up if and
// only if it has answered on its client
// port, as the same server of the same cluster, in touch with a majority. On top of that, it and
// a majority can connect to each other in both directions ([Graph.withMajority]).
// Whatever is not known counts as down, and so does a member that may be taken down at any
// moment.
func (v View) Peers() []Peer {
	peers := make([]Peer, 0, len(v.Status.Servers))
	links := v.Status.Graph(v.Reached).Links
	for i, m := range v.Status.Servers {
		p := Peer{Member: m, ID: v.fullID(m), Link: links[i]}
		switch {
		case m.Self:
			p.ID = v.Status.Server
			p.Up = v.Status.HasLeader()
			if !p.Up {
				p.Why = "it has no leader"
			}
		case v.Status.Role == Leader:
			p.assessAsLeader(v)
		default:
			p.assessAsFollower(v)
		}
		if p.Up && !m.Self && p.isAny(v.Down) {
			p.Up, p.Noted, p.Why = false, true, "its unit has recorded that it stops this server, and not yet that the server runs again"
		}
		p.Leaving = p.isAny(v.Leaving)
		if p.isAny(v.Lost) {
			p.Noted = p.Noted || p.Up
			p.Up, p.Why = false, "its file lacks entries of its log"
		}
		if m.Self && v.Full && p.Up {
			p.Up, p.Noted, p.Why = false, true, "its disk is full"
		}
		peers = append(peers, p)
	}
	graph, serves := graphOf(peers)
	for i, with := range graph.withMajority(serves) {
		if serves[i] && !with {
			peers[i].Up, peers[i].OneWay, peers[i].Why = false, true, peers[i].linkText()
		}
	}
	return peers
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
	switch {
	case p.LastMsg == nil:
		p.Why = "the leader has never heard from it"
	case !v.Status.fresh(p.Member):
		p.Why = fmt.Sprintf("its last message is %s old, election timer %s", short(*p.LastMsg), short(v.Status.ElectionTimer))
	case !p.Link.any():
		p.Why = "its connection is gone"
	case p.Lag == 1:
		p.Why = "it does not store what it is sent: 1 entry behind"
	case p.Lag > 1:
		p.Why = fmt.Sprintf("it does not store what it is sent: %d entries behind", p.Lag)
	default:
		p.Up = true
	}
}

func (p *Peer) assessAsFollower(v View) {
	answer, answered := v.probe(p.Member)
	switch {
	case !p.Link.any() && !(answered && answer.Connected):
		p.Why = "it has no connection to this unit"
	case !answered:
		p.Why = "it does not answer on its client port"
	case v.Status.Cluster == nil || answer.Cluster != *v.Status.Cluster:
		p.Why = "it answers as a member of another cluster"
	case !answer.Connected:
		p.Why = "it reports that it is disconnected from the cluster"
	default:
		p.Up = true
	}
}

// Hears says whether the connection that a member has made to this server stands.
func (s Status) Hears(short string) bool {
	for _, c := range s.Connections {
		if c.Incoming && c.Up && c.Peer == short {
			return true
		}
	}
	return false
}

// Responded says whether a member has answered on its client port, as one of this
// cluster.
func (v View) Responded(m Member) bool {
	answer, found := v.probe(m)
	return found && v.Status.Cluster != nil && answer.Cluster == *v.Status.Cluster
}

// Responding counts the other members that have answered, and those of them that say
// that they are in touch with a majority.
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

// probe finds what a member said. The address alone would mix up a stale
// member and the one that took its address, the four digits alone two members
// that happen to share them.
func (v View) probe(m Member) (ProbeResult, bool) {
	for _, a := range v.Probes {
		if a.Address == m.Address && a.Server.Short() == m.Short {
			return a, true
		}
	}
	return ProbeResult{}, false
}

// fullID gives the member's full ID: what it says itself, else the only one that is
// known to begin with its four digits and is not that of another member. Of
// members that share these, all but one must have said which they are.
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

func short(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
