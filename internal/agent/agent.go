// Package agent is the service that systemd runs on every unit. It takes part in the election of the unit that acts
// (package lease decides), and answers which unit that is. The elected agent gives gateways their candidates if package
// drift finds a reason.
package agent

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// recordKey is the key of the agents' lease in external_ids of NB_Global.
const recordKey = "ovn-central:agent"

// Agent is one agent process. Make it with [New] and run it once.
type Agent struct {
	// config is the configuration at the start; current has the parts that may change while the process runs.
	config  config.Config
	current atomic.Pointer[config.Config]
	next    atomic.Pointer[config.Config]
	quit    chan struct{}
	now     func() time.Duration
	log     *slog.Logger
	dialer  *ovsdb.Dialer
	// paths are the files of this machine's servers, if it has any.
	paths ovndb.Paths
	peers *peers
	// gateways are the workload that the elected agent manages.
	gateways *gateways
	// northbound and southbound observe whether this machine's members are cut off.
	northbound, southbound leaderProbe
	// clusters observes both databases, as this unit sees them, and its ovn-northd.
	clusters *clusters

	mu       sync.Mutex
	election lease.Election
	seen     seen

	updated  chan struct{}   // the election has new input
	swaps    chan lease.Swap // writes that the election proposes
	stepped  atomic.Int64    // when the loop last ran, by now
	watchdog watchdog
}

// New makes an agent. now is a clock that never jumps and also runs while the machine sleeps, such as [Boottime]; paths
// are the files and control sockets of this machine's servers, if it has any. New fails if the configuration is
// invalid.
func New(c config.Config, paths ovndb.Paths, now func() time.Duration, servers Servers,
	log *slog.Logger,
) (*Agent, error) {
	dialer, err := check(c)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		config: c, paths: paths, now: now, log: log, dialer: dialer,
		election: lease.Election{Unit: c.Unit, Instance: rand.Text()[:8], Address: c.PeerListen, TTL: c.TTL},
		updated:  make(chan struct{}, 1), swaps: make(chan lease.Swap, 1), quit: make(chan struct{}),
	}
	a.northbound.database, a.southbound.database = ovndb.NB, ovndb.SB
	a.current.Store(&c)
	a.watchdog.every = watchdogPeriod()
	a.peers = newPeers(a)
	a.gateways = &gateways{agent: a, wake: make(chan struct{}, 1), drains: a.newDrains()}
	a.clusters = &clusters{agent: a, servers: servers, files: map[ovndb.Database]*file{}}
	return a, nil
}

// check checks the configuration and loads its credentials: no other agent could ask an agent without them, so it would
// act as if it were alone.
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

// Run takes part until ctx is done, then releases the record, so that others take over at once, and returns. It fails
// if it can't listen.
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
	if a.config.PeerListen == "" {
		a.log.Warn("this agent never acts: without an address for other agents (peer-listen) they could not ask it")
	}
	// The goroutines that release the record outlive ctx until that is done.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { a.follow(work) })
	wg.Go(func() { a.reportEligibility(work) })
	wg.Go(func() { a.peers.ask(work) })
	wg.Go(func() { a.gateways.run(work) })
	wg.Go(func() { a.clusters.run(work) })
	a.loop(ctx)
	return nil
}

// loop runs until ctx is done and the record is released.
func (a *Agent) loop(ctx context.Context) {
	beat := time.NewTicker(min(a.election.Beat()/4, time.Second))
	defer beat.Stop()
	a.step()
	a.notify(ctx, daemon.SdNotifyReady)
	done, deadline := ctx.Done(), make(<-chan time.Time)
	for {
		select {
		case <-beat.C:
		case <-a.updated:
		case <-deadline:
			return
		case <-done:
			a.updateElection(func(e *lease.Election, _ time.Duration) { e.Stop() })
			if _, again := a.Again(); !again { // otherwise systemd would wait for the process to end
				a.notify(ctx, daemon.SdNotifyStopping)
			}
			done, deadline = nil, time.After(a.config.TTL/2)
		}
		a.step()
		if done == nil && !a.holds() {
			return
		}
	}
}

// step asks the election for the next decision and carries it out.
func (a *Agent) step() {
	a.mu.Lock()
	now := a.now()
	d := a.election.Next(now)
	began := d.Acts && !a.seen.acts
	record, _ := a.election.Guard(now)
	lines := a.seen.update(&a.election, a.live().Knows, d, now)
	a.mu.Unlock()
	if d.Swap.New != "" {
		a.swaps <- d.Swap // never blocks: the election proposes one swap at a time
	}
	for _, l := range lines {
		a.log.Info(l.message, l.attributes...) //nolint:sloglint // constants, chosen by a pure function
	}
	if began && a.gateways.needsPass(record) {
		a.wakeGateways()
	}
	a.stepped.Store(int64(now))
	a.watchdog.kick(now)
}

// updateElection gives the election new input and wakes the loop.
func (a *Agent) updateElection(what func(e *lease.Election, now time.Duration)) {
	a.mu.Lock()
	what(&a.election, a.now())
	a.mu.Unlock()
	select {
	case a.updated <- struct{}{}:
	default: // the loop will run anyway
	}
}

// holds reports whether this process may still hold the record.
func (a *Agent) holds() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.election.Holds()
}

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

// after waits for the period and reports whether ctx is still alive.
func after(ctx context.Context, period time.Duration) bool {
	return poll.Wait(ctx, period) == nil
}
