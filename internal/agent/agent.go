// Package agent is what systemd runs on every unit: it takes part in finding the one unit
// that acts (the decisions are those of package lease), and answers which unit that is. The
// one that acts gives gateways their candidates when what package drift sees is to be acted upon.
package agent

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// recordKey is where the record of the agents' lease stands in external_ids of NB_Global.
const recordKey = "ovn-central:agent"

// Agent is one process' part. It is made by [New] and run once.
type Agent struct {
	// config is what the process began with, current what of it may change while it runs.
	config  config.Config
	current atomic.Pointer[config.Config]
	again   atomic.Pointer[config.Config]
	quit    chan struct{}
	now     func() time.Duration
	log     *slog.Logger
	dialer  *ovsdb.Dialer
	// paths are where the servers' files are, if this machine has any.
	paths ovndb.Paths
	peers *peers
	// gateways are what it is all for.
	gateways *gateways
	// northbound and southbound are whether this machine's members are cut off.
	northbound, southbound touch
	// clusters is what this unit sees of both databases, and how its ovn-northd is.
	clusters *clusters

	mu       sync.Mutex
	election lease.Election
	seen     seen

	told   chan struct{}   // something was told to the election
	swaps  chan lease.Swap // what is to be written
	turned atomic.Int64    // when the loop last turned, by now
	dog    watchdog
}

// New makes an agent. now is a clock that never jumps and goes on while the machine sleeps,
// such as [Boottime]; paths are where the files and control sockets of this machine's servers
// are, if it has any. It fails where the configuration can't be used.
func New(c config.Config, paths ovndb.Paths, now func() time.Duration, servers Servers, log *slog.Logger) (*Agent, error) {
	dialer, err := check(c)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		config: c, paths: paths, now: now, log: log, dialer: dialer,
		election: lease.Election{Unit: c.Unit, Instance: rand.Text()[:8], Address: c.PeerListen, TTL: c.TTL},
		told:     make(chan struct{}, 1), swaps: make(chan lease.Swap, 1), quit: make(chan struct{}),
	}
	a.northbound.database, a.southbound.database = ovndb.NB, ovndb.SB
	a.current.Store(&c)
	a.dog.every = watchdogPeriod()
	a.peers = newPeers(a)
	a.gateways = &gateways{agent: a, wake: make(chan struct{}, 1), drains: a.newDrains()}
	a.clusters = &clusters{agent: a, servers: servers, files: map[ovndb.Database]*file{}}
	return a, nil
}

// check finds out whether the configuration can be used, and its credentials be loaded: an agent
// without them could be asked by no other one, and would act as if none were there.
func check(c config.Config) (*ovsdb.Dialer, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	d := &ovsdb.Dialer{Credentials: ovndb.Credentials{Key: c.Key, Certificate: c.Certificate, CA: c.CA}}
	if !c.Secure() {
		return d, nil
	}
	_, err := d.ClientTLS()
	return d, err
}

// Run takes part until ctx is done, then gives the record up, for which others take it over
// at once, and returns. It fails where it can't listen.
func (a *Agent) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-a.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	servers, err := a.serve(ctx)
	if err != nil {
		return err
	}
	defer servers.close()
	defer a.serveOperations(ctx)()
	// What releases the record goes on for as long as that may take.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { a.follow(work) })
	wg.Go(func() { a.stand(work) })
	wg.Go(func() { a.peers.ask(work) })
	wg.Go(func() { a.gateways.run(work) })
	wg.Go(func() { a.clusters.run(work) })
	a.loop(ctx)
	return nil
}

// loop turns until ctx is done and the record is given up.
func (a *Agent) loop(ctx context.Context) {
	beat := time.NewTicker(min(a.election.Beat()/4, time.Second))
	defer beat.Stop()
	a.turn()
	a.notify(ctx, ready)
	done, deadline := ctx.Done(), make(<-chan time.Time)
	for {
		select {
		case <-beat.C:
		case <-a.told:
		case <-deadline:
			return
		case <-done:
			a.tell(func(e *lease.Election, _ time.Duration) { e.Stop() })
			if _, again := a.Again(); !again { // systemd would wait for the process to end
				a.notify(ctx, stopping)
			}
			done, deadline = nil, time.After(a.config.TTL/2)
		}
		a.turn()
		if done == nil && !a.holds() {
			return
		}
	}
}

// turn asks the election what to do, and has it done.
func (a *Agent) turn() {
	a.mu.Lock()
	now := a.now()
	d := a.election.Next(now)
	began := d.Acts && !a.seen.acts
	record, _ := a.election.Guard(now)
	lines := a.seen.update(&a.election, a.live().Knows, d, now)
	a.mu.Unlock()
	if d.Swap.New != "" {
		a.swaps <- d.Swap // there is room: the election proposes one at a time
	}
	for _, l := range lines {
		a.log.Info(l.message, l.attributes...) //nolint:sloglint // constants, chosen by a pure function
	}
	if began && a.gateways.wants(record) {
		a.wakeGateways()
	}
	a.turned.Store(int64(now))
	a.dog.pet(now)
}

// tell has the election know something, and the loop take it up.
func (a *Agent) tell(what func(e *lease.Election, now time.Duration)) {
	a.mu.Lock()
	what(&a.election, a.now())
	a.mu.Unlock()
	select {
	case a.told <- struct{}{}:
	default: // the loop is to do so already
	}
}

// holds says whether the record may be this process' still.
func (a *Agent) holds() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.election.Holds()
}

// stand has the election know whether this unit is able to act: its Southbound database has
// a leader, and its ovn-northd works. That the Northbound one has a leader, the election sees by itself.
func (a *Agent) stand(ctx context.Context) {
	var m *ovsdb.Member
	defer func() {
		if m != nil {
			m.Close()
		}
	}()
	for period := time.Duration(0); after(ctx, period); period = a.election.Beat() {
		err := func() (err error) {
			ctx, cancel := context.WithTimeout(ctx, a.config.TTL/2)
			defer cancel()
			if m == nil {
				if m, err = a.dialer.Member(ctx, ovndb.SB, a.config.SB...); err != nil {
					m = nil
					return err
				}
			}
			state, err := m.State(ctx)
			switch {
			case err != nil:
				return err
			case state.Clustered && !state.Connected:
				return ovsdb.ErrNoLeader
			}
			return a.southbound.inTouch(ctx, a, state.Server)
		}()
		if err != nil && m != nil { // also to find another endpoint
			m.Close()
			m = nil
		}
		able := err == nil && a.clusters.northdError() == "" && a.live().Mode != config.Off && a.config.PeerListen != ""
		a.tell(func(e *lease.Election, now time.Duration) {
			e.SetEligible(able, now)
			a.seen.southbound = err
		})
	}
}

// after waits for the period; false says that ctx is done.
func after(ctx context.Context, period time.Duration) bool {
	return poll.Wait(ctx, period) == nil
}
