package agent

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// reportEligibility tells the election whether this unit is able to act: its Southbound database has a leader, and its
// ovn-northd works. The election itself sees whether the Northbound one has a leader.
func (a *Agent) reportEligibility(ctx context.Context) {
	var m *ovsdb.Member
	for period := time.Duration(0); after(ctx, period); period = a.election.Beat() {
		var err error
		m, err = a.askSouthbound(ctx, m)
		able := err == nil && a.clusters.northdError() == "" && a.live().Mode != config.Off && a.config.PeerListen != ""
		a.updateElection(func(e *lease.Election, now time.Duration) {
			e.SetEligible(able, now)
			a.seen.southbound = err
		})
	}
	if m != nil {
		m.Close()
	}
}

// askSouthbound returns why the Southbound database can't be used, and the connection for the next question. After an
// error that is nil, since the next connection may use another endpoint.
func (a *Agent) askSouthbound(ctx context.Context, m *ovsdb.Member) (_ *ovsdb.Member, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.config.TTL/2)
	defer cancel()
	if m == nil {
		if m, err = a.dialer.Member(ctx, ovndb.SB, a.config.SB...); err != nil {
			return nil, err
		}
	}
	state, err := m.State(ctx)
	if err == nil && state.Clustered && !state.Connected {
		err = ovsdb.ErrNoLeader
	}
	if err == nil {
		err = a.southbound.check(ctx, a, state.Server)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// check returns [ovsdb.ErrNoLeader] if the connection's member is this machine's and is cut off, although `_Server`
// still calls it connected ([raft.Status.CutOff]), until it has a leader again: before that its data is old. For a
// member elsewhere, or one whose control socket does not answer, `_Server` is all that is known.
func (t *leaderProbe) check(ctx context.Context, a *Agent, member raft.ID) error {
	status, known := t.status(ctx, a, member)
	if !known {
		return nil
	}
	t.cutOff = status.CutOff() || t.cutOff && !status.HasLeader()
	if t.cutOff {
		return ovsdb.ErrNoLeader
	}
	return nil
}

// leaderSilent reports whether the member is this machine's and its leader silent: a write would be sent to that
// leader, and only the write's deadline would show that it is gone.
func (t *leaderProbe) leaderSilent(ctx context.Context, a *Agent, member raft.ID) bool {
	status, known := t.status(ctx, a, member)
	return known && status.LeaderSilent()
}

func (t *leaderProbe) status(ctx context.Context, a *Agent, member raft.ID) (status raft.Status, known bool) {
	if member == "" {
		return status, false
	}
	ctx, cancel := context.WithTimeout(ctx, a.election.Beat()/2)
	defer cancel()
	status, err := ovsctl.Control{Paths: a.paths}.PollStatus(ctx, t.database)
	return status, err == nil && status.Server == member
}
