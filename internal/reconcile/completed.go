package reconcile

import (
	"context"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// judgeCompletely judges what is asked for, also by what the disk and the packages permit, and completes the command as
// it was typed. What is lacking refuses all but a dry run.
func (u *Reconciler) judgeCompletely(
	ctx context.Context, r *record, request, typed RecoverRequest, state plan.State, found *RecoverResult,
) (asked map[ovndb.Database]recovery.Request, refusals []string) {
	asked, refusals = u.judgeRecovery(r, request, state.Recovery, found)
	if len(refusals) == 0 && len(asked) > 0 {
		refusals = u.refuseDying(state)
	}
	if len(refusals) == 0 && len(found.Lacking) == 0 && len(asked) > 0 {
		u.Members.Progress(ctx, "checking the data and the space on the disk")
		refusals = u.refuseContents(ctx, asked)
	}
	if len(refusals) == 0 && len(asked) > 0 {
		typed.Again = typed.Again || slices.ContainsFunc(request.Databases, func(db ovndb.Database) bool {
			return r.inPlace(request, state.Recovery[db], db)
		})
		found.Next = typed.completed(u.Env.Unit, *found)
	}
	if len(refusals) > 0 || !request.DryRun {
		for _, lacking := range found.Lacking {
			refusals = append(refusals, lacking.String())
		}
	}
	return asked, refusals
}

// completed is the command to type next, by what was found: a dry run that gives up all that is in the way, or, if
// nothing is, the command that acts.
func (r RecoverRequest) completed(unit string, found RecoverResult) command.Command {
	c := command.Command{Unit: unit, Action: "recover"}
	add := func(key, value string) { c.Params = append(c.Params, command.Param{Key: key, Value: value}) }
	if r.Backup != "" {
		c.Action = "restore"
		add("from", r.Backup)
	}
	if len(r.Databases) == 1 {
		add("database", r.Databases[0].Short())
	}
	if len(found.GiveUp) > 0 {
		c.Params = append(c.Params, command.Param{Key: "give-up", Value: strings.Join(found.GiveUp, ","), Text: true})
	}
	if r.Force {
		add("force", "true")
	}
	if r.Again {
		add("again", "true")
	}
	if len(found.Lacking) > 0 {
		add("dry-run", "true")
	} else {
		add("i-really-mean-it", "true")
	}
	return c
}

// nameOf is what is given up as it can be typed again: Juju may have taken the ID of a member for a number.
func nameOf(given raft.IDArgument, states map[ovndb.Database]recovery.State) string {
	for _, db := range ovndb.Databases() {
		if names := states[db].Named([]raft.IDArgument{given}); names[0] != given.Text {
			return names[0]
		}
	}
	return given.Text
}
