package reconcile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

// What a hook reports beside the findings of its decision.
func TestFound(t *testing.T) {
	t.Parallel()
	refused := finding.Refuse([]finding.Finding{finding.Of(finding.NoLeader, ovndb.NB, finding.Args{})})
	for name, test := range map[string]struct {
		failure error
		code    finding.Code
	}{
		"step has failed":            {errors.New("no space left"), finding.StepFailed},
		"step is refused":            {refused, finding.StepPostponed},
		"another unit has its turn":  {jujuleader.ErrLater, finding.StepPostponed},
		"client ports do not answer": {nil, finding.ClientPortsClosed},
	} {
		all := (&Reconciler{Machine: new(observe.Machine)}).found(Result{Failure: test.failure})
		assert.True(t, finding.Has(all, test.code), name)
	}
}

// A lost quorum needs no second recovery while the one that was asked for here waits.
func TestFound_recovery_not_accepted(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff()
	o := Result{Snapshot: steps.Snapshot{Report: s.Report(), State: plan.State{Unit: s.Unit}}}
	o.Decision.Findings = []finding.Finding{finding.Of(finding.RecoveryNotAccepted, ovndb.NB, finding.Args{Unit: s.Unit})}
	for _, f := range (&Reconciler{Machine: new(observe.Machine)}).found(o) {
		if f.Code == finding.NoQuorum {
			assert.Equal(t, []finding.Remedy{finding.ByHand(finding.AwaitAccept).For(s.Unit)}, f.Remedies)
			return
		}
	}
	assert.Fail(t, "the lost quorum is not reported")
}
