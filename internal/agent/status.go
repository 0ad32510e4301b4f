package agent

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// seen is the last state of the lease and of the databases, so that each change is logged once.
type seen struct {
	// status has the values that change with an event.
	status report.Status
	last   string // the last unit that held the lease, which may be free now
	known  bool
	since  time.Duration // when the holder was first seen
}

// update compares the election with its last state and returns the changes to log. known reports whether an address is
// this agent's or a peer's.
func (s *seen) update(e *lease.Election, known func(address string) bool, d lease.Decision,
	now time.Duration,
) (lines []line) {
	if r, ok := e.Holder(now); ok {
		lines = s.updateHolder(e, r, known, now)
	}
	if d.Acts != s.status.Acts {
		s.status.Acts = d.Acts
		text := "this unit no longer acts"
		if d.Acts {
			text = "this unit acts"
		}
		lines = append(lines, line{text, []any{"term", s.status.Term}})
	}
	return lines
}

// setDatabase stores why a database can't be used, which is nil if it can, and logs a change. It needs a.mu.
func (a *Agent) setDatabase(db ovndb.Database, err error) {
	reason, name := &a.seen.status.Northbound, "Northbound"
	if db == ovndb.SB {
		reason, name = &a.seen.status.Southbound, "Southbound"
	}
	before := *reason
	switch *reason = ""; {
	case err != nil:
		if *reason = err.Error(); *reason != before {
			a.log.Info("database can't be used", "database", name, "error", err)
		}
	case before != "":
		a.log.Info("database can be used again", "database", name)
	}
}

func (s *seen) updateHolder(e *lease.Election, r lease.Record, known func(address string) bool,
	now time.Duration,
) (lines []line) {
	if !s.known || r.Holder != s.status.Holder || r.Term != s.status.Term {
		s.setHolder(r, now)
		lines = append(lines, line{"holder of the lease", []any{"holder", r.Holder, "term", r.Term, "address", r.Address}})
		if e.HasNamesake() {
			lines = append(lines, line{"another agent uses this unit's name, or this unit's address has changed; " +
				"this agent acts only once the other one is silent", []any{"address", r.Address}})
		}
	}
	unknown := r.UnknownHolder(e.Unit, known)
	if unknown != "" && unknown != s.status.Stranger {
		lines = append(lines, line{"the lease names an agent that this one does not know; " +
			"it is not asked, and counts as silent", []any{"holder", r.Holder, "address", r.Address}})
	}
	s.status.Stranger = unknown
	return lines
}

// setHolder stores the holder of a record that was first seen now.
func (s *seen) setHolder(r lease.Record, now time.Duration) {
	if r.Holder != "" && r.Holder != s.last {
		if s.last != "" {
			s.status.Changes++
			s.status.Previous = s.last
		}
		s.last = r.Holder
	}
	s.known, s.since = true, now
	s.status.Holder, s.status.Address, s.status.Term = r.Holder, r.Address, r.Term
}

func (a *Agent) status() report.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, e := a.now(), &a.election
	s := a.seen.status
	s.Unit, s.Mode, s.Acts, s.Northd = a.config.Unit, a.live().Mode, e.Answer(now).Acts, a.clusters.northdError()
	s.Peers, s.Gateways, s.Drains = a.peers.status(now), a.gateways.status(now), []report.Drain{}
	if s.Acts { // otherwise it is outdated
		s.Drains = a.gateways.drains.status(now)
	}
	if a.seen.known {
		s.HeldSeconds = (now - a.seen.since).Seconds()
	}
	if r, ok := e.Holder(now); ok && (r.Holder != a.config.Unit || s.Acts) &&
		r.UnknownHolder(e.Unit, a.live().Knows) == "" {
		s.Acting = r.Holder
	}
	return s
}

// document returns everything that the agent knows. The status of the gateways is null before they are read.
func (a *Agent) document() report.Document {
	d := report.Document{Status: a.status(), ClusterStatus: a.clusters.document(a.now())}
	if s, ok := a.gateways.evaluate(); ok {
		d.GatewayStatus = document.ForPrograms(s)
	}
	return d
}
