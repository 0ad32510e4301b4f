// Package action is what Juju runs by the name of an action: it reads the
// parameters, calls one service, and reports. A failure is said by action-fail
// and an exit code of 0, since Juju drops the message of an action that exits
// with another.
package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// actionTimeout bounds a whole action, but for those that wait for a node.
const actionTimeout = 20 * time.Minute

// timeout is that of one.
func timeout(name string) time.Duration {
	if name == "drain" || name == "decommission" {
		return node.Timeout
	}
	return actionTimeout
}

// Unit is the unit that actions run on, and what they alone need of it.
type Unit struct {
	*reconcile.Reconciler
	// Backup makes copies of the databases.
	Backup *backup.Service
}

// results are what an action hands to Juju.
type results map[string]string

var handlers = map[string]func(context.Context, Unit, params) (results, error){
	"agent-status":   agentStatus,
	"cluster-status": clusterStatus,
	"health":         health,
	"ok-to-stop":     okTo(status.OKToStop),
	"ok-to-remove":   okTo(status.OKToRemove),
	"kick":           kick("kick", "sb-identity", "nb-identity"),
	"cluster-kick":   kick("cluster-kick", "sb-server-id", "nb-server-id"),

	"backup":          takeBackup,
	"backups":         listBackups,
	"recover":         recoverQuorum,
	"recovery-status": recoveryStatus,
	"rejoin":          rejoin,
	"restore":         restoreBackup,

	"upgrade-check": upgradeCheck,

	"gateway-status":      gatewayStatus,
	"gateway-history":     gatewayHistory,
	"revisions":           revisions,
	"reschedule-gateways": operateGateways((*gateway.Service).Reschedule),
	"rebalance-gateways":  operateGateways((*gateway.Service).Rebalance),

	"node-status":    nodeStatus,
	"cordon":         operateNode((*node.Service).Cordon),
	"uncordon":       operateNode((*node.Service).Uncordon),
	"drain":          operateNode((*node.Service).Drain),
	"undrain":        operateNode((*node.Service).Undrain),
	"decommission":   operateNode((*node.Service).Decommission),
	"remove-node":    operateNode((*node.Service).Remove),
	"hold":           operateNode((*node.Service).Hold),
	"release":        operateNode((*node.Service).Release),
	"cluster-health": clusterHealth,

	"pause":                pause,
	"resume":               resume,
	"hold-northd":          holdNorthd,
	"release-northd":       releaseNorthd,
	"restart-services":     restartServices,
	"run-deferred-hooks":   runDeferredHooks,
	"show-deferred-events": showDeferredEvents,
}

// Names lists the actions that are handled, sorted.
func Names() []string { return slices.Sorted(maps.Keys(handlers)) }

// ErrUnknown is returned for an action that there is none of.
var ErrUnknown = errors.New("unknown action")

// Run runs an action. What it refuses or can't do is reported to Juju; an error
// is returned only where Juju can't be told.
func Run(ctx context.Context, u Unit, name string) error {
	handle, known := handlers[name]
	if !known {
		return fmt.Errorf("%w %q", ErrUnknown, name)
	}
	report := context.WithoutCancel(ctx) // also what was cut short is to be told
	ctx, cancel := context.WithTimeoutCause(ctx, timeout(name), fmt.Errorf("timed out after %s", timeout(name)))
	defer cancel()
	given, err := u.Tools.ActionParams(ctx)
	if err != nil {
		return err
	}
	found, failure := handle(ctx, u, params(given))
	if found, err = u.withReasons(found, given["format"], failure); err != nil {
		failure = errors.Join(failure, err)
	}
	if len(found) > 0 {
		if err := u.Tools.ActionSet(report, found); err != nil {
			failure = errors.Join(failure, err)
		}
	}
	if failure != nil {
		return u.Tools.ActionFail(report, present.Failure(u.Env.Version, failure))
	}
	return nil
}

// withReasons adds the findings of a refusal for programs, if the format is theirs and the results have none.
func (u Unit) withReasons(found results, format any, failure error) (results, error) {
	reasons := finding.Reasons(failure)
	if len(reasons) == 0 || found["findings"] != "" || format != "yaml" && format != "json" {
		return found, nil
	}
	text, err := rendered(fmt.Sprint(format), present.Documents(u.Env.Version, reasons), nil)
	if found == nil {
		found = results{}
	}
	found["findings"] = text
	return found, err
}
