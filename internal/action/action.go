// Package action runs actions for Juju: it reads the parameters, calls one service, and reports. It reports a failure
// with action-fail and exit code 0: Juju drops the message of an action with another exit code.
package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// actionTimeout limits an action, unless it waits for a node.
const actionTimeout = 20 * time.Minute

func timeout(name string) time.Duration {
	if name == "drain" || name == "decommission" {
		return node.Timeout
	}
	return actionTimeout
}

var handlers = map[string]handler{
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

// Names are the known actions, sorted.
func Names() []string { return slices.Sorted(maps.Keys(handlers)) }

// ErrUnknown is returned for an unknown action.
var ErrUnknown = errors.New("unknown action")

// Run runs an action. It reports refusals and failures to Juju, and returns an error only if that fails.
func Run(ctx context.Context, u Unit, name string) error {
	handle, known := handlers[name]
	if !known {
		return fmt.Errorf("%w %q", ErrUnknown, name)
	}
	report := context.WithoutCancel(ctx) // an interrupted action reports, too
	ctx, cancel := context.WithTimeoutCause(ctx, timeout(name), fmt.Errorf("timed out after %s", timeout(name)))
	defer cancel()
	given, err := u.Tools.ActionParams(ctx)
	if err != nil {
		return err
	}
	p := newParams(given)
	found, failure := results(nil), p.err() // of the format
	if failure == nil {
		found, failure = handle(ctx, u, p)
	}
	if found, err = u.withReasons(found, p, failure); err != nil {
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

// withReasons adds the findings of a refusal for programs, if the results have no findings yet.
func (u Unit) withReasons(found results, p *params, failure error) (results, error) {
	reasons := finding.Reasons(failure)
	if len(reasons) == 0 || found["findings"] != "" {
		return found, nil
	}
	if found == nil {
		found = results{}
	}
	return found, u.addFindings(found, p, reasons)
}
