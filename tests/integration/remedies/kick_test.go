package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R4: a kick that was printed while a machine was down removes nothing once the machine is back.
func TestKick_printed_for_lost_machine_is_refused_after_return(t *testing.T) {
	w := &world{Model: labtest.Deploy(t, 3)}
	w.on = w.MakeOneLeader()
	lost := w.loseOne()
	said := w.Refuse(w.on, "kick", "unit="+lost.Name(), "i-really-mean-it=true")
	kick := labtest.LineWith(t, said, finding.Finding{}.Condition(finding.Remedy{When: finding.ToKickAnyway})+": ")
	require.Contains(t, kick, " unit-in-model=true ")
	require.NoError(t, lost.PowerOn(t.Context()))
	w.ends(finding.MemberDown)
	assert.Equal(t, "failed", w.Type(kick).Status)
	for _, db := range lab.Databases {
		assert.Contains(t, w.MemberIDs(w.on, db), w.ShortID(lost, db))
	}
}
