// Package agent is the service that systemd runs on every unit. It takes part in the election of the unit that acts
// (package lease decides), and answers which unit that is. The elected agent gives gateways their candidates if package
// drift finds a reason.
package agent

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
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

func (a *Agent) live() config.Config { return *a.current.Load() }
