package restore

import (
	"context"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// The flags of commands: planned of a dry run, confirmed of one that acts.
const (
	planned   = "dry-run"
	confirmed = "i-really-mean-it"
)

// judge judges a request, including the space on the disk and the packages, and completes the typed command. A missing
// unit or confirmation refuses all but a dry run.
func (u *Unit) judge(
	ctx context.Context, request, typed Request, state plan.State, found *Found,
) (asked map[ovndb.Database]recovery.Request, refusals []finding.Finding) {
	j := u.judgeAll(request, state.Recovery, found)
	typed.Again = typed.Again || slices.ContainsFunc(request.Databases, func(db ovndb.Database) bool {
		stage := u.stage(request, state.Recovery[db], db)
		return stage == recovery.Placed || stage == recovery.Served
	})
	refusals = j.refusals
	if len(refusals) == 0 && len(j.asked) > 0 {
		refusals = u.refuseDying(state)
	}
	if len(refusals) == 0 && len(j.lacking) == 0 && len(j.asked) > 0 {
		u.telling(ctx, "checking the data and the space on the disk", func() { refusals = u.refuseContents(ctx, j.asked) })
	}
	switch {
	case len(refusals) > 0:
		return j.asked, append(refusals, j.lacking...)
	case len(j.lacking) > 0:
		for i, f := range j.lacking {
			j.lacking[i].Remedies = recovery.Ways(f, u.completed(typed, j, planned))
		}
		if !request.DryRun {
			return j.asked, j.lacking
		}
		found.Findings = append(found.Findings, j.lacking...)
	case request.DryRun && len(j.asked) > 0:
		found.Findings = append(found.Findings, finding.New(finding.RecoveryPlanned, finding.Subject{}, finding.Args{},
			u.completed(typed, j, confirmed)))
	case !request.DryRun && !request.Confirmed:
		ways := []finding.Remedy{u.completed(typed, j, planned), u.completed(typed, j, confirmed)}
		return j.asked, []finding.Finding{finding.New(finding.Unconfirmed, finding.Subject{}, finding.Args{}, ways...)}
	}
	return j.asked, nil
}

// completed returns the typed command with all given up units, under the condition that they are lost.
func (u *Unit) completed(typed Request, j judgement, flag string) finding.Remedy {
	c := typed.command(u.Env.Unit, j.giveUp, flag)
	if len(j.giveUp) == 0 {
		return finding.Do(c)
	}
	return recovery.Without(c, j.giveUp...)
}

// nameOf returns a given up name in a form that can be typed again: Juju may have taken a member's ID for a number.
func nameOf(given raft.IDArgument, states map[ovndb.Database]recovery.State) string {
	for _, db := range ovndb.Databases() {
		if names := states[db].Named([]raft.IDArgument{given}); names[0] != given.Text {
			return names[0]
		}
	}
	return given.Text
}
