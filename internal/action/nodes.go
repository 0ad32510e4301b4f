package action

import (
	"context"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// nodeStatus shows every node, or one.
func nodeStatus(ctx context.Context, u Unit, p *params) (results, error) {
	id := p.text("node")
	if err := p.err(); err != nil {
		return nil, err
	}
	s := u.nodes(ctx)
	defer s.Close()
	found, refused := s.List(ctx, id)
	if refused != nil {
		return answered(p.format, *refused)
	}
	return shownAs("nodes", p.format, document.Nodes, found, nil)
}

// operateNode runs an operation on one node, which ends in an answer.
func operateNode(
	operate func(*node.Service, context.Context, node.Request) answer.Status,
) handler {
	return func(ctx context.Context, u Unit, p *params) (results, error) {
		given := p.node()
		if err := p.err(); err != nil {
			return nil, err
		}
		s := u.nodes(ctx)
		defer s.Close()
		s.Gateways.Progress = u.Members.Progress
		return answered(p.format, operate(s, ctx, given))
	}
}

// node reads the parameters of operations on nodes.
func (p *params) node() node.Request {
	given := node.Request{
		Node: p.text("node"), Hold: p.text("name"), Reason: p.text("reason"), DryRun: p.flag("dry-run"),
		Confirmed: p.flag("i-really-mean-it"), Force: p.flag("force"),
		DropFiles:  p.given["preserve-db"] != nil && !p.flag("preserve-db"),
		MinMembers: int(p.number("min-members", 0, 0, 100)), Wait: p.seconds("wait", gateway.DefaultWait, 10*time.Minute),
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

// nodes uses this unit's servers, or those of others.
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
		c.Unknown = append(c.Unknown, err.Error())
	}
	return c
}

// health is the health of both clusters, as this unit sees them.
func (u Unit) health(ctx context.Context) []maintenance.DatabaseHealth {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	return node.Health(u.Observer.Report(ctx, snapshot.Application, snapshot.Servers))
}

// clusterHealth reports the health of both clusters to programs.
func clusterHealth(ctx context.Context, u Unit, p *params) (results, error) {
	least := p.number("min-members", 0, 0, 100)
	if err := p.err(); err != nil {
		return nil, err
	}
	return answered(p.format, maintenance.ClusterHealth(u.health(ctx), int(least)))
}
