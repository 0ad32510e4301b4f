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
	operate func(*node.Service, context.Context, node.Request) answer.Status,
) func(context.Context, Unit, params) (results, error) {
	return func(ctx context.Context, u Unit, p params) (results, error) {
		given, format, err := p.node()
		if err != nil {
			return nil, err
		}
		s := u.nodes(ctx)
		defer s.Close()
		s.Gateways.Progress = u.Members.Progress
		return answered(format, operate(s, ctx, given))
	}
}

// node reads the parameters of operations on nodes.
func (p params) node() (given node.Request, format string, err error) {
	var failures []error
	for key, to := range map[string]*string{"node": &given.Node, "name": &given.Hold, "reason": &given.Reason} {
		value, err := p.text(key)
		*to, failures = value, append(failures, err)
	}
	format, err = p.format()
	failures = append(failures, err)
	preserve := true
	flags := map[string]*bool{"dry-run": &given.DryRun, "i-really-mean-it": &given.Confirmed, "force": &given.Force}
	if p["preserve-db"] != nil {
		flags["preserve-db"] = &preserve
	}
	for key, to := range flags {
		value, err := p.flag(key)
		*to, failures = value, append(failures, err)
	}
	given.DropFiles = !preserve
	seconds := func(key string, otherwise, most time.Duration) time.Duration {
		n, err := p.number(key, int64(otherwise/time.Second), int64(most/time.Second))
		failures = append(failures, err)
		return time.Duration(n) * time.Second
	}
	given.Limits.Timeout = seconds("timeout", maintenance.DefaultTimeout, maintenance.MaxTimeout)
	given.Limits.Grace = seconds("grace-period", maintenance.GraceFor(given.Limits.Timeout), maintenance.MaxTimeout)
	given.Wait = seconds("wait", gateway.DefaultWait, 10*time.Minute)
	if _, named := p["drain-node-timeout"]; named {
		given.Limits.Timeout = seconds("drain-node-timeout", maintenance.DefaultTimeout, maintenance.MaxTimeout)
		given.Limits.Grace = maintenance.GraceFor(given.Limits.Timeout)
	}
	given.Limits.Grace = seconds("drain-node-grace-period", given.Limits.Grace, maintenance.MaxTimeout)
	given.Clear = seconds("clear-labels-timeout", node.DefaultClearTimeout, maintenance.MaxTimeout)
	given.Member = seconds("remove-member-timeout",
		seconds("remove-etcd-timeout", node.DefaultMemberTimeout, maintenance.MaxTimeout), maintenance.MaxTimeout)
	given.Ready = seconds("cluster-ready-timeout",
		seconds("etcd-ready-timeout", node.DefaultReadyTimeout, maintenance.MaxTimeout), maintenance.MaxTimeout)
	least, err := p.number("min-members", 0, 100)
	given.MinMembers, failures = int(least), append(failures, err)
	return given, format, errors.Join(failures...)
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
