// Package agent is what systemd runs on every unit: it takes part in finding the one unit
// that acts (the decisions are those of package lease), and answers which unit that is.
package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// RecordKey is where the record of the agents' lease stands in external_ids of NB_Global.
const RecordKey = "ovn-central:agent"

// Mode is how much the agent does.
type Mode string

// The modes.
const (
	// Off: the agent follows the record, and never takes it.
	Off Mode = "off"
	// Advise: the agent takes part, and changes no gateway.
	Advise Mode = "advise"
)

// Bounds of [Config.TTL]. The record has whole seconds; below the least a busy machine makes
// the lease change hands.
const (
	MinTTL = 2 * time.Second
	MaxTTL = 5 * time.Minute
)

// Config is what an agent is told.
type Config struct {
	// Unit is its name in the record, such as ovn-central/0.
	Unit string
	Mode Mode
	// NB and SB are the endpoints of the databases, best first.
	NB, SB []string
	// TTL is how long a holder may stay silent.
	TTL time.Duration
	// Listen is where programs of this machine ask; an address of the loopback.
	Listen string
	// PeerListen is where other agents ask; empty where none shall, and then the agent
	// never takes the record: others could not hear it.
	PeerListen string
	// Peers are where other agents can be asked. The holder is found by its record.
	Peers []string
	// Credentials are for ssl: endpoints and for peers; without them peers are spoken to
	// in the clear, on the loopback only.
	Credentials ovsdb.Credentials
}

// Check finds what is wrong with the configuration.
func (c Config) Check() error {
	if c.Unit == "" {
		return errors.New("the unit has no name")
	}
	if c.TTL < MinTTL || c.TTL > MaxTTL {
		return fmt.Errorf("a TTL of %s is not between %s and %s", c.TTL, MinTTL, MaxTTL)
	}
	if c.Mode != Off && c.Mode != Advise {
		return fmt.Errorf("mode %q is neither %s nor %s", c.Mode, Off, Advise)
	}
	if ip, err := address(c.Listen); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("%q is not an address and port of the loopback, such as 127.0.0.1:16401", c.Listen)
	}
	for _, peer := range slices.Concat([]string{c.PeerListen}, c.Peers) {
		if peer == "" {
			continue
		}
		ip, err := address(peer)
		switch {
		case err != nil || ip.IsUnspecified():
			return fmt.Errorf("%q is not an address and port at which an agent can be asked, such as 10.0.0.5:16402", peer)
		case !c.secure() && !ip.IsLoopback():
			return fmt.Errorf("%q is not on the loopback, which needs a key, a certificate and a CA", peer)
		}
	}
	return nil
}

func (c Config) secure() bool { return c.Credentials != ovsdb.Credentials{} }

func address(hostPort string) (net.IP, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return nil, fmt.Errorf("%q is no IP address", host)
	}
	return ip, nil
}

// Agent is one process' part. It is made by [New] and run once.
type Agent struct {
	config Config
	now    func() time.Duration
	log    *slog.Logger
	dialer *ovsdb.Dialer
	peers  *peers

	mu       sync.Mutex
	election lease.Election
	seen     seen

	told   chan struct{}   // something was told to the election
	swaps  chan lease.Swap // what is to be written
	turned atomic.Int64    // when the loop last turned, by now
	dog    watchdog
}

// New makes an agent. now is a clock that never jumps and goes on while the machine sleeps,
// such as [Boottime].
func New(c Config, now func() time.Duration, log *slog.Logger) (*Agent, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	a := &Agent{
		config: c, now: now, log: log, dialer: &ovsdb.Dialer{Credentials: c.Credentials},
		election: lease.Election{Unit: c.Unit, Instance: rand.Text()[:8], Address: c.PeerListen, TTL: c.TTL},
		told:     make(chan struct{}, 1), swaps: make(chan lease.Swap, 1),
	}
	a.dog.every = watchdogPeriod()
	a.peers = newPeers(a)
	return a, nil
}

// Run takes part until ctx is done, then gives the record up, for which others take it over
// at once, and returns. It fails where it can't listen.
func (a *Agent) Run(ctx context.Context) error {
	servers, err := a.serve(ctx)
	if err != nil {
		return err
	}
	defer servers.close()
	// What releases the record goes on for as long as that may take.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { a.follow(work) })
	wg.Go(func() { a.stand(work) })
	wg.Go(func() { a.peers.ask(work) })
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
			a.notify(ctx, stopping)
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
	lines := a.seen.look(&a.election, d, now)
	a.mu.Unlock()
	if d.Swap.New != "" {
		a.swaps <- d.Swap // there is room: the election proposes one at a time
	}
	for _, l := range lines {
		a.log.Info(l.message, l.attributes...)
	}
	a.turned.Store(int64(now))
	a.dog.pet(now)
}

// tell has the election know something, and the loop look at it.
func (a *Agent) tell(what func(e *lease.Election, now time.Duration)) {
	a.mu.Lock()
	what(&a.election, a.now())
	a.mu.Unlock()
	select {
	case a.told <- struct{}{}:
	default: // the loop is to look already
	}
}

// holds says whether the record may be this process' still.
func (a *Agent) holds() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.election.Holds()
}

// stand has the election know whether this unit is able to act: its Southbound database has
// a leader. That the Northbound one has, the election sees by itself.
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
				if m, err = a.dialer.Member(ctx, raft.SB, a.config.SB...); err != nil {
					m = nil
					return err
				}
			}
			state, err := m.State(ctx)
			if err == nil && state.Clustered && !state.Connected {
				err = ovsdb.ErrNoLeader
			}
			return err
		}()
		if err != nil && m != nil { // also to find another endpoint
			m.Close()
			m = nil
		}
		able := err == nil && a.config.Mode != Off && a.config.PeerListen != ""
		a.tell(func(e *lease.Election, now time.Duration) {
			e.Stand(able, now)
			a.seen.southbound = err
		})
	}
}

// after waits for the period; false says that ctx is done.
func after(ctx context.Context, period time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(period):
		return true
	}
}
