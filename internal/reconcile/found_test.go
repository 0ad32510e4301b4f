package reconcile

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
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
