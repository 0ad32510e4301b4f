// Package agent is the service that systemd runs on every unit. It takes part in the election of the unit that acts
// (package lease decides), and answers which unit that is. The elected agent gives gateways their candidates if package
// drift finds a reason.
package agent

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// recordKey is the key of the agents' lease in external_ids of NB_Global.
const recordKey = "ovn-central:agent"

// Agent is one agent process. Make it with [New] and run it once.
type Agent struct {
	// config is the configuration at the start; current is the last one that was read.
	config  config.Config
	current atomic.Pointer[config.Config]
	// restart ends the run, since a part has changed that is fixed at the start; restarts is closed then.
	restart  func()
	restarts chan struct{}
	now      func() time.Duration
	log      *slog.Logger
	dialer   *ovsdb.Dialer
	// paths are the files of this machine's servers, if it has any.
	paths ovndb.Paths
	peers *peers
	// gateways is the workload that the elected agent manages.
	gateways *gateways
	// northbound and southbound probe whether this machine's members are cut off.
	northbound, southbound leaderProbe
	// clusters observes both databases as this unit's servers see them, and its ovn-northd.
	clusters *clusters

	mu       sync.Mutex
	election lease.Election
	seen     seen

	updated  chan struct{}   // the election has new input
	swaps    chan lease.Swap // writes that the election proposes
	stepped  atomic.Int64    // when the loop last ran, by now
	watchdog watchdog
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

// after waits for the period and reports whether ctx is still alive.
func after(ctx context.Context, period time.Duration) bool {
	return poll.Wait(ctx, period) == nil
}

// clusters has this unit's view of the members of both databases, and of its ovn-northd.
type clusters struct {
	agent   *Agent
	servers Servers
	// observing serialises observations.
	observing sync.Mutex
	// files has the files of the local servers. Only the loop uses it.
	files map[ovndb.Database]*file
	last  atomic.Pointer[sight]
}

// sight is an observation of the clusters.
type sight struct {
	report observe.Report
	at     time.Duration // of the observation; 0: none yet
	northd ovndb.NorthdHealth
	idle   int // consecutive observations, with this one, in which ovn-northd did not work
}

// drains continues drains with an intent in the database while this agent holds the lease: the commands that began them
// may have ended. Only the loop of the gateways uses the fields above report.
type drains struct {
	agent *Agent
	// open makes a service that writes only while the record has that value; service is the open one.
	open    func(value string) drainService
	service drainService
	// value is the record under which all were followed: their state survives moments in which the unit does not act.
	value string
	all   map[string]*drain
	retry time.Duration
	// asked reports whether a drain needs signs of life of all chassis.
	asked  bool
	report atomic.Pointer[[]report.Drain]
}

// gateways follows chassis and gateways on every unit, so that a new holder starts with current state. The holder
// carries out what is due. Fields above mu belong to the loop.
type gateways struct {
	agent    *Agent
	wake     chan struct{}
	detector drift.Detector
	undone   drift.Undone
	acted    string // the record under which a complete plan was made
	// unfinished are the interrupted runs of this process, or of agents whose term has ended. They were read under the
	// record noted.
	unfinished []journal.Entry
	noted      string
	retry      time.Duration
	drains     drains

	mu     sync.Mutex
	report gatewayReport
	record string // the record under which this unit last acted
	missed bool   // the last pass found work, but this unit did not act

	// evaluating limits evaluations to one at a time.
	evaluating sync.Mutex
}

// peers asks the other agents.
type peers struct {
	agent  *Agent
	client *http.Client
	scheme string

	mu  sync.Mutex
	all map[string]*peer // by address
}

// Servers are the agent's operations on this machine's servers.
type Servers struct {
	// Observe returns the state of the clusters as the servers see it, and the state of ovn-northd, which is empty if none
	// should run here. It changes nothing.
	Observe func(context.Context) (observe.Report, ovndb.NorthdHealth)
	// PublishDamage publishes which entries a local server's file lacks; empty means none. The agent calls it until it has
	// succeeded once.
	PublishDamage func(ctx context.Context, server observe.ServerState, missing string) error
}

// file is the state of a server's file: whether it lacks entries, for how many consecutive observations that has been
// so, and whether the other units know.
type file struct {
	server       raft.ID
	damaged      bool
	observations int
	published    bool
}

// leaderProbe determines whether this machine's member of a database is connected to its cluster. Only one goroutine
// may use it.
type leaderProbe struct {
	database ovndb.Database
	cutOff   bool
}

// drainService has the operations of [node.Service] that drains need.
type drainService interface {
	Effects(chassis string, inv *gateway.Inventory) maintenance.Effects
	AskNorthd(ctx context.Context) error
	Close()
}

type drain struct {
	maintenance.Drainer
	// intent is the drain's record. It differs if the node has been undrained and drained again.
	intent map[string]string
	said   report.Drain // the last report
}

// watchdog tells systemd that the loop is running.
type watchdog struct {
	every  time.Duration // 0: systemd does not ask
	kicked time.Duration
}

// peer is the last result of asking one agent.
type peer struct {
	asking   bool
	answered time.Duration // start of the last question that was answered; 0: never
	unit     string
	ahead    time.Duration // by how much its clock was ahead when it last answered
	err      error
}

// turn is the work that a pass has found, with its record and its inventory.
type turn struct {
	value     string
	acts      bool
	live      config.Config
	inventory *gateway.Inventory
	work      []*work
	owns      func(key string) bool
	// next is when the detector is due; 0 means never.
	next time.Duration
}

// work is one kind of work. do reports whether it has changed the databases; next is when to look again, 0 means never.
type work struct {
	do     func(g *gateways, ctx context.Context, t turn) (changed bool, next time.Duration, err error)
	failed string // for the log
}

// gatewayReport has the results of the last pass and of the last change.
type gatewayReport struct {
	// status lacks the values that depend on the present time.
	status  report.GatewayStatus
	seen    *observation  // nil: no pass yet
	at      time.Duration // of the pass
	held    map[string]time.Duration
	outage  time.Duration          // since when no gateway works; 0: one may
	advised time.Duration          // since when gateways have to be scheduled; 0: none have to
	moves   map[schedule.Class]int // candidates changed
	northd  progress
}

// progress is the progress of the active ovn-northd. asked is NB's nb_cfg, done is SB's. While done is below asked,
// since is when done was seen to fall behind or to change; otherwise it is 0.
type progress struct {
	asked, done int64
	since       time.Duration
}

// update returns the progress as of now. The time restarts if ovn-northd has moved.
func (p progress) update(asked, done int64, now time.Duration) progress {
	if done >= asked {
		return progress{asked: asked, done: done}
	}
	if p.since == 0 || done != p.done {
		p.since = now
	}
	return progress{asked, done, p.since}
}

// behind returns for how long ovn-northd has not moved although it was asked.
func (p progress) behind(now time.Duration) time.Duration {
	if p.since == 0 {
		return 0
	}
	return now - p.since
}

// observation is the part of a reading that is kept until the next pass: about a third of it, with 10,000 routers.
type observation struct {
	state schedule.State
	// evaluate returns the result of the action gateway-status. It takes seconds with 10,000 gateways, but only once.
	evaluate func() schedule.Status
}

func (a *Agent) live() config.Config { return *a.current.Load() }
