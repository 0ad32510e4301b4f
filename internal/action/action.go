// Package action runs actions for Juju: it reads the parameters, calls one service, and reports. It reports a failure
// with action-fail and exit code 0: Juju drops the message of an action that ends with another exit code.
package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/render"
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
	"health":         reading(flag("detail"), health),
	"ok-to-stop":     reading(text("unit"), okTo(status.OKToStop)),
	"ok-to-remove":   reading(text("unit"), okTo(status.OKToRemove)),
	"kick":           kick("kick", "sb-identity", "nb-identity"),
	"cluster-kick":   kick("cluster-kick", "sb-server-id", "nb-server-id"),

	"backup":          reading((*params).backup, takeBackup),
	"backups":         reading((*params).backups, listBackups),
	"recover":         reading((*params).recovery, recoverQuorum),
	"recovery-status": recoveryStatus,
	"rejoin":          reading((*params).rejoin, rejoin),
	"restore":         reading((*params).recovery, restoreBackup),

	"upgrade-check": reading(text("source"), upgradeCheck),

	"gateway-status":  reading((*params).gateways, gatewayStatus),
	"gateway-history": reading(text("plan"), gatewayHistory),
	"revisions":       reading((*params).revisions, revisions),
	"reschedule-gateways": reading((*params).gateways,
		operateGateways("reschedule-gateways", (*gateway.Service).Reschedule)),
	"rebalance-gateways": reading((*params).gateways,
		operateGateways("rebalance-gateways", (*gateway.Service).Rebalance)),

	"node-status":    reading(text("node"), nodeStatus),
	"cordon":         operateNode((*node.Service).Cordon),
	"uncordon":       operateNode((*node.Service).Uncordon),
	"drain":          operateNode((*node.Service).Drain),
	"undrain":        operateNode((*node.Service).Undrain),
	"decommission":   operateNode((*node.Service).Decommission),
	"remove-node":    operateNode((*node.Service).Remove),
	"hold":           operateNode((*node.Service).Hold),
	"release":        operateNode((*node.Service).Release),
	"cluster-health": reading((*params).minMembers, clusterHealth),

	"pause":                reading(flag("force"), pause),
	"resume":               operating(resume),
	"hold-northd":          operating(holdNorthd),
	"release-northd":       operating(releaseNorthd),
	"restart-services":     reading((*params).services, restart),
	"run-deferred-hooks":   reading(func(*params) []string { return nil }, restart),
	"show-deferred-events": operating(showDeferredEvents),
}

// Names returns the known actions, sorted.
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
	limit := timeout(name)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, finding.Reason{Code: finding.TimedOut, Age: limit}.Err())
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

// Unit is the unit on which actions run.
type Unit struct {
	*reconcile.Reconciler
	// Backup makes copies of the databases.
	Backup *backup.Service
}

// results are an action's results for Juju.
type results map[string]string

// list adds a result of lines, if there are any.
func (r results) list(key string, all []string) {
	if len(all) > 0 {
		r[key] = lines(all)
	}
}

type handler func(context.Context, Unit, *params) (results, error)

// reading returns a handler that first reads the parameters, and calls do only if all are valid.
func reading[T any](read func(*params) T, do func(context.Context, Unit, *params, T) (results, error)) handler {
	return func(ctx context.Context, u Unit, p *params) (results, error) {
		given := read(p)
		if err := p.err(); err != nil {
			return nil, err
		}
		return do(ctx, u, p, given)
	}
}

func text(key string) func(*params) string { return func(p *params) string { return p.text(key) } }

func flag(key string) func(*params) bool { return func(p *params) bool { return p.flag(key) } }

// addFindings adds findings for programs, if the results are for programs.
func (u Unit) addFindings(found results, p *params, all []finding.Finding) (err error) {
	if p.programs() {
		found["findings"], err = rendered(p.format, present.Documents(u.Env.Version, all), nil)
	}
	return err
}

// lines returns a result of whole lines. Juju's client folds a result without a newline at its end, and a folded
// command can't be pasted.
func lines(all []string) string { return strings.Join(all, "\n") + "\n" }

// answered shows the result of an operation, and fails the action if the operation failed.
func answered(format string, status answer.Status) (results, error) {
	text, err := shown(format, status, document.Answer)
	if err == nil && !status.OK() {
		err = errors.New(status.Message)
	}
	return results{"status": text}, err
}

// shownAs returns a document as the only result, or err if it is not nil.
func shownAs[T presentable[T]](key, format string, text func(T) string, d T, err error) (results, error) {
	if err != nil {
		return nil, err
	}
	whole, err := shown(format, d, text)
	return results{key: whole}, err
}

// presentable is a document that can be shortened.
type presentable[T any] interface {
	Shortened(most int) T
}

// room is the length of the longest result: Juju takes little more in one argument ([juju.MaxArgument]).
const room = 100_000

// mostEntries is the length of the longest list that fits: each entry takes more than 24 bytes.
const mostEntries = room / 24

// shown returns a document in the requested format, shortened to the length that Juju takes.
func shown[T presentable[T]](format string, d T, text func(T) string) (string, error) {
	whole, err := rendered(format, d, text)
	if err != nil || len(whole) <= room {
		return whole, err
	}
	fits := ""
	sort.Search(mostEntries, func(n int) bool {
		short, err := rendered(format, d.Shortened(mostEntries-n), text)
		if err != nil || len(short) > room {
			return false
		}
		fits = short
		return true
	})
	if fits == "" {
		return "", finding.Reason{Code: finding.AnswerTooLong}.Err()
	}
	return fits, nil
}

func rendered[T any](format string, d T, text func(T) string) (string, error) {
	switch format {
	case "", "text":
		return text(d), nil
	case "yaml":
		return render.YAML(document.ForPrograms(d))
	}
	return render.JSON(document.ForPrograms(d))
}
