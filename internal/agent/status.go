package agent

import (
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/document"
)

// status returns the agent's present state.
func (a *Agent) status() report.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, e := a.now(), &a.election
	s := report.Status{
		Unit: a.config.Unit, Mode: a.live().Mode, Acts: e.Answer(now).Acts,
		Holder: a.seen.holder, Term: a.seen.term, Address: a.seen.address, Changes: a.seen.changes, Previous: a.seen.previous,
		Northbound: a.seen.reported[0], Southbound: a.seen.reported[1], Northd: a.clusters.northdError(),
		Peers:        a.peers.status(now),
		TakenAddress: a.seen.taken, Stranger: a.seen.unknownHolder, Gateways: a.gateways.status(now),
		Drains: []report.Drain{},
	}
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

func (p *peers) status(now time.Duration) []report.PeerStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := []report.PeerStatus{}
	for _, address := range slices.Sorted(maps.Keys(p.all)) {
		one := p.all[address]
		s := report.PeerStatus{Address: address, Unit: one.unit, AnsweredSecondsAgo: -1}
		if one.answered != 0 {
			s.AnsweredSecondsAgo, s.ClockAheadSeconds = (now - one.answered).Seconds(), one.ahead.Seconds()
		}
		if one.err != nil {
			s.Error = one.err.Error()
		}
		all = append(all, s)
	}
	return all
}

// document returns everything that the agent knows. The status of the gateways is null before they are read.
func (a *Agent) document() report.Document {
	d := report.Document{Status: a.status(), ClusterStatus: a.clusters.document(a.now())}
	if s := a.gateways.evaluate(); s != nil {
		d.GatewayStatus = document.ForPrograms(*s)
	}
	return d
}
