package action

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// nodeStatus shows every node, or one.
func nodeStatus(ctx context.Context, u Unit, p params) (results, error) {
	id, idErr := p.text("node")
	format, formatErr := p.format()
	if err := errors.Join(idErr, formatErr); err != nil {
		return nil, err
	}
	s := u.nodes(ctx)
	defer s.Close()
	report, refused := s.List(ctx, id)
	if refused != nil {
		return answered(format, *refused)
	}
	text, err := shown(format, report, document.Nodes)
	return results{"nodes": text}, err
}

// operateNode runs an operation on one node, which ends in an answer.
func operateNode(
	operate func(context.Context, *node.Service, nodeParams) answer.Status,
) func(context.Context, Unit, params) (results, error) {
	return func(ctx context.Context, u Unit, p params) (results, error) {
		given, err := p.node()
		if err != nil {
			return nil, err
		}
		s := u.nodes(ctx)
		defer s.Close()
		s.Gateways.Progress = u.Members.Progress
		return answered(given.format, operate(ctx, s, given))
	}
}

// nodeParams are the parameters of operations on nodes.
type nodeParams struct {
	node, name, reason, format string
	dryRun                     bool
	limits                     maintenance.Limits
	wait                       time.Duration
	// confirmed and what follows is for nodes that go for good.
	confirmed            bool
	clear, member, ready time.Duration
	minMembers           int
	force, dropFiles     bool
}

func (p params) node() (given nodeParams, err error) {
	var failures []error
	for key, to := range map[string]*string{"node": &given.node, "name": &given.name, "reason": &given.reason} {
		value, err := p.text(key)
		*to, failures = value, append(failures, err)
	}
	format, err := p.format()
	given.format, failures = format, append(failures, err)
	dryRun, err := p.flag("dry-run")
	given.dryRun, failures = dryRun, append(failures, err)
	seconds := func(key string, otherwise, most time.Duration) time.Duration {
		n, err := p.number(key, int64(otherwise/time.Second), int64(most/time.Second))
		failures = append(failures, err)
		return time.Duration(n) * time.Second
	}
	given.limits.Timeout = seconds("timeout", maintenance.DefaultTimeout, maintenance.MaxTimeout)
	given.limits.Grace = seconds("grace-period", maintenance.GraceFor(given.limits.Timeout), maintenance.MaxTimeout)
	given.wait = seconds("wait", gateway.DefaultWait, 10*time.Minute)
	confirmed, err := p.flag("i-really-mean-it")
	given.confirmed, failures = confirmed, append(failures, err)
	force, err := p.flag("force")
	given.force, failures = force, append(failures, err)
	if _, named := p["preserve-db"]; named {
		preserve, err := p.flag("preserve-db")
		given.dropFiles, failures = !preserve, append(failures, err)
	}
	if _, named := p["drain-node-timeout"]; named {
		given.limits.Timeout = seconds("drain-node-timeout", maintenance.DefaultTimeout, maintenance.MaxTimeout)
		given.limits.Grace = maintenance.GraceFor(given.limits.Timeout)
	}
	given.limits.Grace = seconds("drain-node-grace-period", given.limits.Grace, maintenance.MaxTimeout)
	given.clear = seconds("clear-labels-timeout", node.DefaultClearTimeout, maintenance.MaxTimeout)
	given.member = seconds("remove-member-timeout",
		seconds("remove-etcd-timeout", node.DefaultMemberTimeout, maintenance.MaxTimeout), maintenance.MaxTimeout)
	given.ready = seconds("cluster-ready-timeout",
		seconds("etcd-ready-timeout", node.DefaultReadyTimeout, maintenance.MaxTimeout), maintenance.MaxTimeout)
	least, err := p.number("min-members", 0, 100)
	given.minMembers, failures = int(least), append(failures, err)
	return given, errors.Join(failures...)
}

// decommission retires a node.
func decommission(ctx context.Context, s *node.Service, p nodeParams) answer.Status {
	return s.Decommission(ctx, p.decommission())
}

func (p nodeParams) decommission() node.DecommissionRequest {
	return node.DecommissionRequest{
		Node: p.node, Reason: p.reason, Drain: p.limits, Clear: p.clear, Member: p.member, Ready: p.ready,
		MinMembers: p.minMembers, DryRun: p.dryRun, Confirmed: p.confirmed, Force: p.force, DropFiles: p.dropFiles,
	}
}

// removeNode deletes a node that is dead.
func removeNode(ctx context.Context, s *node.Service, p nodeParams) answer.Status {
	return s.Remove(ctx, node.RemoveRequest{Node: p.node, DryRun: p.dryRun, Confirmed: p.confirmed})
}

// drain empties a node.
func drain(ctx context.Context, s *node.Service, p nodeParams) answer.Status {
	return s.Drain(ctx, node.DrainRequest{Node: p.node, Reason: p.reason, Limits: p.limits, DryRun: p.dryRun})
}

// undrain puts a node back.
func undrain(ctx context.Context, s *node.Service, p nodeParams) answer.Status {
	return s.Undrain(ctx, p.node, p.wait, p.dryRun)
}

// answered shows how an operation ended, and fails the action where it did not end well.
func answered(format string, status answer.Status) (results, error) {
	text, err := shown(format, status, document.Answer)
	if err == nil && !status.OK() {
		err = errors.New(status.Message)
	}
	return results{"status": text}, err
}

// nodes works on nodes by this unit's servers, or by those of others.
func (u Unit) nodes(ctx context.Context) *node.Service {
	return &node.Service{
		Gateways: u.gateways(ctx), Unit: u.Env.Unit, Charm: u.charm, Health: u.health, Command: u.Env.Version.Render,
	}
}

// charm is what this unit knows of the application.
func (u Unit) charm(ctx context.Context) maintenance.Charm {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	hostname, err := os.Hostname()
	c := node.CharmOf(snapshot.Application, snapshot.Servers, hostname)
	if err != nil {
		c.Unknown = append(c.Unknown, err.Error())
	}
	return c
}

// health is how both clusters are, as this unit sees them.
func (u Unit) health(ctx context.Context) []maintenance.DatabaseHealth {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	return node.Health(u.Observer.Report(ctx, snapshot.Application, snapshot.Servers))
}

// clusterHealth is for programs that look at both clusters.
func clusterHealth(ctx context.Context, u Unit, p params) (results, error) {
	format, formatErr := p.format()
	least, leastErr := p.number("min-members", 0, 100)
	if err := errors.Join(formatErr, leastErr); err != nil {
		return nil, err
	}
	return answered(format, maintenance.ClusterHealth(u.health(ctx), int(least)))
}
