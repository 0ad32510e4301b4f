package agent

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// New makes an agent. now is a clock that never jumps and also runs while the machine sleeps, such as [Boottime]. paths
// are the files and control sockets of this machine's servers, if it has any. New returns an error if the configuration
// is invalid.
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
		updated:  make(chan struct{}, 1), swaps: make(chan lease.Swap, 1), restarts: make(chan struct{}),
	}
	a.restart = sync.OnceFunc(func() { close(a.restarts) })
	a.northbound.database, a.southbound.database = ovndb.NB, ovndb.SB
	a.current.Store(&c)
	a.watchdog.every = watchdogPeriod()
	a.peers = a.newPeers()
	a.gateways = &gateways{agent: a, wake: make(chan struct{}, 1), report: gatewayReport{
		status: report.GatewayStatus{Advice: []report.Advice{}, Orphans: []finding.Document{}},
		moves:  map[schedule.Class]int{},
	}}
	a.gateways.drains = drains{now: now, log: log, whileHeld: a.gateways.whileHeld, open: func(value string) drainService {
		return &node.Service{Gateways: a.service(value), Unit: c.Unit}
	}}
	a.clusters = &clusters{servers: servers, now: now, log: log, files: map[ovndb.Database]*file{}}
	a.clusters.last.Store(new(clusterObservation))
	return a, nil
}

func (a *Agent) newPeers() *peers {
	p := &peers{
		scheme: "http", now: a.now, beat: a.election.Beat, own: a.config.PeerListen, all: map[string]*peer{},
		configured: func() []string { return a.live().Peers },
		answered: func(answer lease.Answer, asked time.Duration) {
			a.updateElection(func(e *lease.Election, _ time.Duration) { e.ObserveAnswer(answer, asked) })
		},
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1, MaxResponseHeaderBytes: maxAnswer, DisableCompression: true}
	if a.config.Secure() {
		p.scheme = "https"
		transport.DialTLSContext = a.dialPeer
	}
	p.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// check checks the configuration and loads its credentials. Without them no other agent could ask this one, and it
// would act as if it were alone.
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

// Run takes part until ctx is done, then releases the record, so that others take over at once, and returns. It returns
// an error if it can't listen.
func (a *Agent) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-a.restarts:
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
	// The goroutines that release the record continue after ctx is done, until it is released.
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
	began := d.Acts && !a.seen.status.Acts
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

// Reload replaces the configuration and makes new connections read the credentials again. If either is invalid, it
// changes nothing. If a part that is fixed at the start has changed, [Agent.Run] releases the lease and returns;
// [Agent.Again] then returns the configuration to run with.
func (a *Agent) Reload(c config.Config) error {
	if _, err := check(c); err != nil {
		return err
	}
	a.log.Info("read the configuration again", "mode", c.Mode, "restarts", a.config.Restarts(c))
	a.current.Store(&c)
	a.dialer.Forget()
	a.wakeGateways()
	a.peers.client.CloseIdleConnections()
	if a.config.Restarts(c) {
		a.restart()
	}
	return nil
}

// Again returns the configuration for another run, after [Agent.Run] has returned; ok is false if the agent should end.
func (a *Agent) Again() (c config.Config, ok bool) {
	select {
	case <-a.restarts:
		return a.live(), true
	default:
		return config.Config{}, false
	}
}

// notify sends a state to systemd (sd_notify(3)), if NOTIFY_SOCKET is set.
func (a *Agent) notify(ctx context.Context, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		a.log.WarnContext(ctx, "cannot tell systemd", "state", state, "error", err)
	}
}

// watchdog tells systemd that the loop is running.
type watchdog struct {
	every  time.Duration // 0: systemd does not ask
	kicked time.Duration
}

// watchdogPeriod returns a third of the service's WatchdogSec, or 0 if the service has none.
func watchdogPeriod() time.Duration {
	period, err := daemon.SdWatchdogEnabled(false)
	if err != nil { // set for another process, or by hand
		return 0
	}
	return period / 3
}

func (w *watchdog) kick(now time.Duration) {
	if w.every == 0 || now-w.kicked < w.every {
		return
	}
	w.kicked = now
	_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog) // systemd reacts to missing messages
}
