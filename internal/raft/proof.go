package raft

import "slices"

// RemovalWatcher watches for the end of a removal (rule R6). A member's absence from
// Servers proves nothing: the rows are those of the newest log entry, committed
// or not. So it notes where the log ended when the member was first absent, and
// is satisfied when everything before that is committed.
type RemovalWatcher struct {
	// Target is the four digits of the member that goes, Address where it was:
	// another member may share one of them. An empty Address stands for any.
	Target, Address string
	// missing is what the newest status said; noted, that end and term were those
	// of the first status of a working member in which the target was absent.
	missing, noted bool
	end, term      uint64
}

// Observe takes the status of a member that remains and says whether the removal
// is proved by it.
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

// ConfigurationWatcher watches for the proof that the members that a server first showed are those of
// a committed entry.
type ConfigurationWatcher struct {
	servers    []string
	begun      bool
	noted      bool
	end, term  uint64
	superseded bool
}

// Observe takes the status of a member and says whether it is proved by it. Once the
// server has shown other members it never is.
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

// Absent says whether the member was missing when the status was last observed.
func (p *RemovalWatcher) Absent() bool { return p.missing }

func (p *RemovalWatcher) isAbsent(s Status) bool {
	is := func(short, address string) bool {
		return short == p.Target && (p.Address == "" || address == p.Address)
	}
	return !slices.ContainsFunc(s.Servers, func(m Member) bool { return is(m.Short, m.Address) }) &&
		!slices.ContainsFunc(s.Removing, func(r Pending) bool { return is(r.Short, r.Address) })
}
