package action

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// gatewayStatus shows how gateways are spread.
func gatewayStatus(ctx context.Context, u Unit, p *params, r gateway.Request) (results, error) {
	s := u.gateways(ctx)
	defer s.Close()
	status, err := s.Status(ctx, r.Options)
	return shownAs("gateways", p.format, document.Gateways, status, err)
}

// gatewayHistory lists the changes of gateways.
func gatewayHistory(ctx context.Context, u Unit, p *params, plan string) (results, error) {
	s := u.gateways(ctx)
	defer s.Close()
	history, err := s.History(ctx, plan)
	return shownAs("history", p.format, document.History, history, err)
}

// revisions lists layouts of gateways, or compares two.
func revisions(ctx context.Context, u Unit, p *params, r gateway.RevisionsRequest) (results, error) {
	s := u.gateways(ctx)
	defer s.Close()
	return answered(p.format, s.Revisions(ctx, r))
}

// operateGateways shows a plan for gateways, and carries it out.
func operateGateways(
	name string, prepare func(*gateway.Service, context.Context, gateway.Request) (*gateway.Operation, error),
) func(context.Context, Unit, *params, gateway.Request) (results, error) {
	return func(ctx context.Context, u Unit, p *params, r gateway.Request) (results, error) {
		found := results{}
		s := u.gateways(ctx)
		defer s.Close()
		said := ""
		s.Progress = func(ctx context.Context, line string) {
			said = line
			u.Members.Progress(ctx, line)
		}
		operation, err := prepare(s, ctx, r)
		if err == nil && r.DryRun && len(operation.Plan.Changes) > 0 {
			operation.Plan.Next = slices.Insert(operation.Plan.Next, 0, u.reviewed(name, p, r, operation.Plan.ReviewID))
		}
		if err == nil {
			found["plan"], err = shown(p.format, operation.Plan, document.Plan)
		}
		if err == nil {
			err = operation.Apply(ctx)
		}
		if said != "" {
			found["result"] = said
		}
		var unproved *gateway.UnprovedError
		var refused *answer.RefusedError
		switch {
		case errors.As(err, &refused):
			shown, wrong := answered(p.format, refused.Status)
			found["status"], err = shown["status"], wrong
		case finding.Has(finding.Reasons(err), finding.WouldInterrupt):
			err = u.unconfirmed(finding.Reasons(err)[0], name, p, planning(r)...)
		case errors.As(err, &unproved) && !finding.Has(unproved.Findings, finding.NewHostSilent):
			found["misplaced"] = named(present.Messages(unproved.Findings))
			err = fmt.Errorf("%w; run: %s", err, u.command("gateway-status"))
		}
		return found, err
	}
}

// named returns as many lines as fit.
func named(all []string) string {
	var b strings.Builder
	for i, line := range all {
		if b.Len() > room {
			fmt.Fprintf(&b, "… and %d more\n", len(all)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// command returns the command that runs an action on this unit.
func (u Unit) command(action string, given ...command.Param) string {
	return u.Env.Version.Render(command.Command{Unit: u.Env.Unit, Action: action, Params: given})
}

// moving are the parameters that determine which gateways move.
var moving = []string{
	"network", "max-moves", "allow-new-candidates", "revert", "target-revision", "review-id", "allow-intermediate-commits",
}

// reviewed returns the command that carries out the plan that a dry run has shown.
func (u Unit) reviewed(name string, p *params, r gateway.Request, id string) string {
	keys := slices.DeleteFunc(slices.Clone(planning(r)), func(key string) bool { return key == "review-id" })
	carryOut := u.again(name, p, keys, "i-really-mean-it")
	carryOut.Params = append(carryOut.Params, command.Param{Key: "review-id", Value: id})
	return u.Env.Version.Render(carryOut)
}

// planning returns the parameters that determine the plan of a request.
func planning(r gateway.Request) []string {
	if r.Options.Scheduler == schedule.Random {
		return slices.Concat(moving, []string{"scheduler", "seed"})
	}
	return moving
}

// again returns the given command with these of its parameters, and with yes=true.
func (u Unit) again(action string, p *params, keys []string, yes string) command.Command {
	var given []command.Param
	for _, key := range keys {
		_, text := p.given[key].(string)
		switch value := fmt.Sprint(p.given[key]); value {
		case "<nil>", "", "0", "false":
		default:
			given = append(given, command.Param{Key: key, Value: value, Text: text})
		}
	}
	return command.Command{Unit: u.Env.Unit, Action: action, Params: append(given, command.Param{Key: yes, Value: "true"})}
}

// unconfirmed returns the refusal of an unconfirmed command. Its remedies are the command as a dry run, and
// confirmed.
func (u Unit) unconfirmed(why finding.Finding, action string, p *params, keys ...string) error {
	why.Remedies = []finding.Remedy{
		finding.Do(u.again(action, p, keys, "dry-run")), finding.Do(u.again(action, p, keys, "i-really-mean-it")),
	}
	return finding.Refuse([]finding.Finding{why})
}

// gateways returns a service that uses this unit's servers, or, if these do not answer, those of the other members
// and units.
func (u Unit) gateways(ctx context.Context) *gateway.Service {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	at := map[ovndb.Database][]string{}
	for _, db := range ovndb.Databases() {
		at[db] = []string{"unix:" + u.Control.Paths.Socket(db)}
		members := observe.OtherAddresses(snapshot.Servers[db].Status)
		for _, address := range snapshot.Application.PeerAddresses() {
			members = append(members, ovndb.RaftAddress(db, address.String()))
		}
		slices.Sort(members)
		for _, address := range slices.Compact(members) {
			at[db] = append(at[db], ovsdb.Endpoints(db, address)...)
		}
	}
	return &gateway.Service{
		Dialer: u.Dialer, NB: at[ovndb.NB], SB: at[ovndb.SB], NorthdTimeout: gateway.DefaultNorthdTimeout,
		Now: time.Now,
		By:  fmt.Sprintf("%s, action %s", u.Env.Unit, u.Env.ActionID),
		Undo: func(plan string) string {
			return u.Env.Version.Render(u.again("rebalance-gateways",
				newParams(map[string]any{"revert": plan}), moving, "i-really-mean-it"))
		},
		Show: func(plan string) string {
			return u.command("gateway-history", command.Param{Key: "plan", Value: plan})
		},
		OnNode: func(c command.Command) string {
			c.Unit = u.Env.Unit
			return u.Env.Version.Render(c)
		},
		DryRun: func(operation string) string {
			return u.command(operation+"-gateways", command.Param{Key: "dry-run", Value: "true"})
		},
	}
}

// revisions reads the parameters of the action revisions.
func (p *params) revisions() gateway.RevisionsRequest {
	return gateway.RevisionsRequest{
		Base: journal.Version(p.text("base")), Diff: journal.Version(p.text("diff")),
		Reschedule: p.oneOf("plan", "rebalance", "reschedule") == "reschedule", Options: p.gateways().Options,
	}
}

// gateways reads the parameters of an action on gateways.
func (p *params) gateways() gateway.Request {
	return gateway.Request{
		Options: schedule.Options{
			Scheduler:          schedule.Scheduler(p.oneOf("scheduler", string(schedule.LeastLoaded), string(schedule.Random))),
			MaxMoves:           int(p.number("max-moves", 0, 0, math.MaxInt32)),
			AllowNewCandidates: p.flag("allow-new-candidates"), Networks: p.words("network"),
		},
		Seed: uint64(p.number("seed", 1, 0, math.MaxInt64)), Revert: p.text("revert"), //nolint:gosec // not negative
		Target:   journal.Version(p.text("target-revision")),
		ReviewID: p.text("review-id"), AllowIntermediate: p.flag("allow-intermediate-commits"),
		DryRun: p.flag("dry-run"), Confirmed: p.flag("i-really-mean-it"),
		Wait: p.seconds("wait", gateway.DefaultWait, 10*time.Minute),
	}
}

// nodeStatus shows every node, or one.
func nodeStatus(ctx context.Context, u Unit, p *params, id string) (results, error) {
	s := u.nodes(ctx)
	defer s.Close()
	found, refused := s.List(ctx, id)
	if refused != nil {
		return answered(p.format, *refused)
	}
	return shownAs("nodes", p.format, document.Nodes, found, nil)
}

// operateNode runs an operation on one node, which returns an answer.
func operateNode(
	operate func(*node.Service, context.Context, node.Request) answer.Status,
) handler {
	return reading((*params).node, func(ctx context.Context, u Unit, p *params, r node.Request) (results, error) {
		s := u.nodes(ctx)
		defer s.Close()
		s.Gateways.Progress = u.Members.Progress
		return answered(p.format, operate(s, ctx, r))
	})
}

// node reads the parameters of operations on nodes.
func (p *params) node() node.Request {
	given := node.Request{
		Node: p.text("node"), Hold: p.text("name"), Reason: p.text("reason"), DryRun: p.flag("dry-run"),
		Confirmed: p.flag("i-really-mean-it"), Force: p.flag("force"),
		DropFiles:  p.given["preserve-db"] != nil && !p.flag("preserve-db"),
		MinMembers: p.minMembers(), Wait: p.seconds("wait", gateway.DefaultWait, 10*time.Minute),
	}
	seconds := func(key string, otherwise time.Duration) time.Duration {
		return p.seconds(key, otherwise, maintenance.MaxTimeout)
	}
	given.Limits.Timeout = seconds("timeout", maintenance.DefaultTimeout)
	given.Limits.Grace = seconds("grace-period", maintenance.GraceFor(given.Limits.Timeout))
	if p.given["drain-node-timeout"] != nil {
		given.Limits.Timeout = seconds("drain-node-timeout", 0)
		given.Limits.Grace = maintenance.GraceFor(given.Limits.Timeout)
	}
	given.Limits.Grace = seconds("drain-node-grace-period", given.Limits.Grace)
	given.Clear = seconds("clear-labels-timeout", node.DefaultClearTimeout)
	given.Member = seconds("remove-member-timeout", seconds("remove-etcd-timeout", node.DefaultMemberTimeout))
	given.Ready = seconds("cluster-ready-timeout", seconds("etcd-ready-timeout", node.DefaultReadyTimeout))
	return given
}

// nodes returns a service that uses this unit's servers, or those of other units.
func (u Unit) nodes(ctx context.Context) *node.Service {
	return &node.Service{
		Gateways: u.gateways(ctx), Unit: u.Env.Unit, Charm: u.charm, Health: u.health, Command: u.Env.Version.Render,
	}
}

// charm returns this unit's view of the application.
func (u Unit) charm(ctx context.Context) maintenance.Charm {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	hostname, err := os.Hostname()
	c := node.CharmOf(snapshot.Application, snapshot.Servers, hostname)
	if err != nil {
		c.Unknown = append(c.Unknown, finding.Cause(err))
	}
	return c
}

// health returns the health of both clusters, as this unit sees them.
func (u Unit) health(ctx context.Context) []maintenance.DatabaseHealth {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	return node.Health(u.Observer.Report(ctx, snapshot.Application, snapshot.Servers))
}

// clusterHealth reports the health of both clusters to programs.
func clusterHealth(ctx context.Context, u Unit, p *params, least int) (results, error) {
	return answered(p.format, maintenance.ClusterHealth(u.health(ctx), least))
}

func (p *params) minMembers() int { return int(p.number("min-members", 0, 0, 100)) }
