package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R4: a kick that was printed while a machine was down removes nothing once it is back.
func TestKickThatWasPrintedForALostMachineIsRefusedOnceItIsBack(t *testing.T) {
	w := &world{Model: labtest.Deploy(t, 3)}
	lost := w.blockLeave()
	shown := w.appears(finding.LeaveBlocked)
	kick := shown.Remedies[1].Commands[0]
	require.Contains(t, kick, " kick ")
	require.NoError(t, lost.PowerOn(t.Context()))
	w.ends(finding.LeaveBlocked)
	assert.Equal(t, "failed", w.Type(kick).Status)
	for _, db := range lab.Databases {
		assert.Contains(t, w.MemberIDs(w.on, db), w.ShortID(lost, db))
	}
}
