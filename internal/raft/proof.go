package raft

import "slices"

// commitWatcher determines when the changes that a status shows are committed. A status shows the newest entry of the
// log, committed or not. So commitWatcher records the end of the log in the first status, and waits until all entries
// before that are committed.
type commitWatcher struct {
	noted     bool
	end, term uint64
}

// observe takes the next status of a working member. shown reports whether that status still shows the watched state.
func (w *commitWatcher) observe(s Status, shown bool) bool {
	w.noted = w.noted && shown
	if !shown || !s.MemberWithLeader() {
		return false
	}
	if !w.noted || s.Log.End < w.end || s.Term != w.term {
		*w = commitWatcher{true, s.Log.End, s.Term}
	}
	return s.Committed()+1 >= w.end
}

// RemovalWatcher determines when a removal is committed (R6).
type RemovalWatcher struct {
	// Target is the first four digits of the removed member's ID, Address its address: another member may share one of
	// them. An empty Address matches any.
	Target, Address string
	// missing reports whether the last status lacks the target.
	missing bool
	commit  commitWatcher
}

// Observe takes the status of a remaining member and reports whether it proves the removal.
func (p *RemovalWatcher) Observe(s Status) bool {
	p.missing = p.isAbsent(s)
	return p.commit.observe(s, p.missing)
}

// ConfigurationWatcher determines when the configuration that a server showed first is known to be committed.
type ConfigurationWatcher struct {
	servers           []string
	begun, superseded bool
	commit            commitWatcher
}

// Observe takes the status of a member and reports whether it proves that. Once the server has shown other members,
// no status does.
func (p *ConfigurationWatcher) Observe(s Status) bool {
	servers := make([]string, 0, len(s.Servers))
	for _, m := range s.Servers {
		servers = append(servers, m.Short+" "+m.Address)
	}
	if !p.begun {
		p.begun, p.servers = true, servers
	}
	p.superseded = p.superseded || !slices.Equal(servers, p.servers)
	return p.commit.observe(s, !p.superseded && len(s.Removing) == 0 && s.MemberWithLeader())
}

// Absent reports whether the member was missing in the last status.
func (p *RemovalWatcher) Absent() bool { return p.missing }

func (p *RemovalWatcher) isAbsent(s Status) bool {
	return !slices.ContainsFunc(slices.Concat(s.Servers, s.Removing), func(m Member) bool {
		return m.Short == p.Target && (p.Address == "" || m.Address == p.Address)
	})
}
