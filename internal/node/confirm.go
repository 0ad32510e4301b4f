package node

import (
	"context"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// needsConfirmation reports whether an operation is refused without [Request.Confirmed], except as a dry run.
func needsConfirmation(operation string) bool {
	switch operation {
	case maintenance.OperationDrain, maintenance.OperationUndrain, maintenance.OperationDecommission,
		maintenance.OperationRemove:
		return true
	}
	return false
}

// unconfirmed refuses an operation, and names its dry run and the confirmed command.
func (s *Service) unconfirmed(n maintenance.Node, operation string) answer.Status {
	return s.refuse(answer.BadRequest, about(n, finding.NodeUnconfirmed, finding.Args{},
		s.way(operation, n, "dry-run", "true"), s.way(operation, n)))
}

// confirmed runs an operation that interrupts traffic. If the request is not confirmed, it runs a dry run instead, and
// its answer shows what that found and asks for the confirmation. A refusal needs none, nor does an operation that has
// nothing to do.
func (s *Service) confirmed(ctx context.Context, r Request, operation string,
	operate func(context.Context, Request) answer.Status,
) answer.Status {
	if r.DryRun || r.Confirmed {
		return operate(ctx, r)
	}
	r.DryRun = true
	would := operate(ctx, r)
	what, shown := strings.CutPrefix(would.Message, "dry run: ")
	if !would.OK() || !shown {
		return would
	}
	asked := answer.New(answer.BadRequest, what+"; this interrupts traffic: confirm it", would.Details.MessageList...)
	asked.Metadata["finding"] = string(finding.Unconfirmed)
	return asked.With(s.typed(s.command(operation, r.Node)))
}
