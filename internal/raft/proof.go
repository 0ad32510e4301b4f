package raft

import "slices"

// RemovalWatcher determines when a removal is committed (R6). A member's absence from Servers proves nothing: the rows
// are those of the newest log entry, committed or not. So it records where the log ended when the member was first
// absent, and waits until everything before that is committed.
type RemovalWatcher struct {
	// Target is the four digits of the removed member, Address its address: another member may share one of them. An
	// empty Address matches any.
	Target, Address string
	// missing is the newest status' result; noted, end and term are from the first status of a working member without
	// the target.
	missing, noted bool
	end, term      uint64
}

// Observe takes the status of a remaining member and reports whether it proves the removal.
func (p *RemovalWatcher) Observe(s Status) bool {
	p.missing = p.isAbsent(s)
	p.noted = p.noted && p.missing
	if !p.missing || !s.MemberWithLeader() {
		return false
	}
	if !p.noted || s.Log.End < p.end || s.Term != p.term {
		p.noted, p.end, p.term = true, s.Log.End, s.Term
	}
	return s.Committed()+1 >= p.end
}

// ConfigurationWatcher determines when the members that a server first showed are known to be those of a committed
// entry.
type ConfigurationWatcher struct {
	servers    []string
	begun      bool
	noted      bool
	end, term  uint64
	superseded bool
}

// Observe takes the status of a member and reports whether it proves that. After the server has shown other members,
// none does.
func (p *ConfigurationWatcher) Observe(s Status) bool {
	servers := make([]string, 0, len(s.Servers))
	for _, m := range s.Servers {
		servers = append(servers, m.Short+" "+m.Address)
	}
	if !p.begun {
		p.begun, p.servers = true, servers
	}
	p.superseded = p.superseded || !slices.Equal(servers, p.servers)
	if p.superseded || !s.MemberWithLeader() || len(s.Removing) > 0 {
		p.noted = false
		return false
	}
	if !p.noted || s.Log.End < p.end || s.Term != p.term {
		p.noted, p.end, p.term = true, s.Log.End, s.Term
	}
	return s.Committed()+1 >= p.end
}

// Absent reports whether the member was missing in the last status.
func (p *RemovalWatcher) Absent() bool { return p.missing }

func (p *RemovalWatcher) isAbsent(s Status) bool {
	is := func(short, address string) bool {
		return short == p.Target && (p.Address == "" || address == p.Address)
	}
	return !slices.ContainsFunc(s.Servers, func(m Member) bool { return is(m.Short, m.Address) }) &&
		!slices.ContainsFunc(s.Removing, func(r Pending) bool { return is(r.Short, r.Address) })
}
