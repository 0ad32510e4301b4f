package agent

import (
	"context"
	"errors"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// firstPause is the pause after a failed connection. Each further pause is twice as long, up to a beat.
const firstPause = 100 * time.Millisecond

// follow reads the record for the election and writes the proposed swaps, on one connection after another: a doubtful
// connection is closed and replaced.
func (a *Agent) follow(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		begun := a.now()
		err := a.session(ctx)
		if ctx.Err() != nil {
			return
		}
		a.updateElection(func(e *lease.Election, _ time.Duration) {
			e.Disconnected()
			a.setDatabase(ovndb.NB, err)
		})
		if a.now()-begun > a.config.TTL {
			pause = firstPause
		}
		if !a.refuseSwaps(ctx, pause) {
			return
		}
		pause = min(2*pause, a.election.Beat())
	}
}

// refuseSwaps waits for the pause, and meanwhile refuses the proposed swaps: they were never sent.
func (a *Agent) refuseSwaps(ctx context.Context, pause time.Duration) bool {
	over := time.After(pause)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-over:
			return true
		case <-a.swaps:
			a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapRefused) })
		}
	}
}

func (a *Agent) session(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, a.config.TTL)
	w, err := a.dialer.Watch(limited, ovndb.NB, recordKey, a.config.NB...)
	cancel()
	if err != nil {
		return err
	}
	defer w.Close()
	beat := time.NewTicker(a.election.Beat())
	defer beat.Stop()
	again := make(<-chan time.Time) // never
	leaderless := time.Duration(0)
	for {
		begun := a.now()
		switch err := a.read(ctx, w); {
		case errors.Is(err, ovsdb.ErrNoLeader):
			// This is a Raft election. It takes a while; afterwards another member may have a leader.
			if leaderless == 0 {
				leaderless = begun
			}
			if begun-leaderless > a.config.TTL {
				return err
			}
			again = time.After(a.election.Beat() / 4)
		case err != nil:
			return err
		default:
			leaderless = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.Lost():
			return errors.New("the connection is lost")
		case s := <-a.swaps:
			if err := a.write(ctx, w, s); err != nil {
				return err
			}
		case <-w.Changed():
		case <-beat.C:
		case <-again:
		}
	}
}

func (a *Agent) read(ctx context.Context, w *ovsdb.Watch) error {
	ctx, cancel := context.WithTimeout(ctx, a.config.TTL/2)
	defer cancel()
	asked := a.now()
	value, err := w.Read(ctx)
	if err == nil {
		err = a.northbound.check(ctx, a, w.Server())
	}
	a.updateElection(func(e *lease.Election, _ time.Duration) {
		a.setDatabase(ovndb.NB, err)
		if err == nil {
			e.ObserveRecord(value, asked)
		}
	})
	return err
}

// write makes a swap. If the result is unknown, the next connection reads it. A swap is not sent to a silent leader:
// soon the member has another leader, and the election proposes the swap again.
func (a *Agent) write(ctx context.Context, w *ovsdb.Watch, s lease.Swap) error {
	if a.northbound.leaderSilent(ctx, a, w.Server()) && after(ctx, a.election.Beat()/8) {
		a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapRefused) })
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.config.TTL/2)
	defer cancel()
	done, err := w.Swap(ctx, s.Old, s.New)
	outcome := lease.SwapRefused
	switch {
	case err != nil:
		outcome = lease.SwapUnknown
	case done:
		outcome = lease.SwapDone
	}
	a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(outcome) })
	return err
}

// reportEligibility tells the election whether this unit is able to act: the Southbound database has a leader, and the
// unit's ovn-northd works. The election itself sees whether the Northbound database has a leader.
func (a *Agent) reportEligibility(ctx context.Context) {
	var m *ovsdb.Member
	for period := time.Duration(0); after(ctx, period); period = a.election.Beat() {
		var err error
		m, err = a.askSouthbound(ctx, m)
		able := err == nil && a.clusters.northdError() == "" && a.live().Mode != config.Off && a.config.PeerListen != ""
		a.updateElection(func(e *lease.Election, now time.Duration) {
			e.SetEligible(able, now)
			a.setDatabase(ovndb.SB, err)
		})
	}
	if m != nil {
		m.Close()
	}
}

// askSouthbound returns the connection for the next question, and why the Southbound database can't be used. After an
// error the connection is nil, since the next one may use another endpoint.
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

// leaderProbe determines whether this machine's member of a database is connected to its cluster. Only one goroutine
// may use it.
type leaderProbe struct {
	database ovndb.Database
	cutOff   bool
}

// check returns [ovsdb.ErrNoLeader] if the connection's member is this machine's and is cut off although `_Server`
// still calls it connected ([raft.Status.CutOff]). It does so until the member has a leader again: until then its data
// is old. It relies on `_Server` alone if the member is elsewhere, or if its control socket does not answer.
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

// leaderSilent reports whether the member is this machine's and its leader is silent. A write would be sent to that
// leader, and only the write's deadline would show that the leader is gone.
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
