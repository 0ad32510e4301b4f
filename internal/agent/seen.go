package agent

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
)

// seen is the last state of the lease, so that each change is logged once.
type seen struct {
	holder, address string
	last            string // the last unit that held it; there may be gaps
	previous        string // the one before it
	term            uint64
	acts            bool
	known           bool
	since           time.Duration // when the holder was first seen
	changes         int           // of holders, after the first
	// northbound and southbound are why a database can't be used; nil if it can.
	northbound, southbound error
	reported               [2]string
	// unknownHolder is why the holder is not an agent that this one knows; empty if it is one.
	unknownHolder string
	// taken is the address of the API for this machine's programs, if another program has it.
	taken string
}

// line is one event for the log.
type line struct {
	message    string
	attributes []any
}

// update compares the election with its last state and returns the changes to log; known reports whether an address is
// this agent's or a peer's.
func (s *seen) update(e *lease.Election, known func(address string) bool, d lease.Decision,
	now time.Duration,
) (lines []line) {
	if r, ok := e.Holder(now); ok {
		lines = s.updateHolder(e, r, known, now)
	}
	if d.Acts != s.acts {
		s.acts = d.Acts
		text := "this unit no longer acts"
		if d.Acts {
			text = "this unit acts"
		}
		lines = append(lines, line{text, []any{"term", s.term}})
	}
	for i, name := range []string{"Northbound", "Southbound"} {
		problem, before := "", s.reported[i]
		if err := []error{s.northbound, s.southbound}[i]; err != nil {
			problem = err.Error()
		}
		s.reported[i] = problem
		switch problem {
		case before:
		case "":
			lines = append(lines, line{"database can be used again", []any{"database", name}})
		default:
			lines = append(lines, line{"database can't be used", []any{"database", name, "error", problem}})
		}
	}
	return lines
}

// updateHolder compares the holder with the last one.
func (s *seen) updateHolder(e *lease.Election, r lease.Record, known func(address string) bool,
	now time.Duration,
) (lines []line) {
	if !s.known || r.Holder != s.holder || r.Term != s.term {
		s.setHolder(r, now)
		lines = append(lines, line{"holder of the lease", []any{"holder", r.Holder, "term", r.Term, "address", r.Address}})
		if e.HasNamesake() {
			lines = append(lines, line{"another agent uses this unit's name, or this unit's address has changed; " +
				"this agent acts only once the other one is silent", []any{"address", r.Address}})
		}
	}
	unknown := r.UnknownHolder(e.Unit, known)
	if unknown != "" && unknown != s.unknownHolder {
		lines = append(lines, line{"the lease names an agent that this one does not know; " +
			"it is not asked, and counts as silent", []any{"holder", r.Holder, "address", r.Address}})
	}
	s.unknownHolder = unknown
	return lines
}

// setHolder stores the holder of a record that was first seen now.
func (s *seen) setHolder(r lease.Record, now time.Duration) {
	if r.Holder != "" && r.Holder != s.last {
		if s.last != "" {
			s.changes++
			s.previous = s.last
		}
		s.last = r.Holder
	}
	s.known, s.holder, s.address, s.term, s.since = true, r.Holder, r.Address, r.Term, now
}
