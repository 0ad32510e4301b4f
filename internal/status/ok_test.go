package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestOKToStop(t *testing.T) {
	t.Parallel()
	oneDown := func(s *observetest.Scenario) {
		s.NB, s.SB = observetest.Up("aa00", "aa01").Down("aa02"), observetest.Up("bb00", "bb01").Down("bb02")
	}
	for name, c := range map[string]struct {
		change          func(*observetest.Scenario)
		unit            string
		stop, remove    bool
		remedies, lines int
	}{
		"all are up":          {func(*observetest.Scenario) {}, "ovn-central/1", true, true, 0, 2},
		"this unit":           {func(*observetest.Scenario) {}, "ovn-central/0", true, true, 0, 2},
		"another one is down": {oneDown, "ovn-central/1", false, false, 2, 0},
		"it is the one down":  {oneDown, "ovn-central/2", true, false, 0, 2},
		"one database differs": {
			func(s *observetest.Scenario) { s.SB = observetest.Up("bb00", "bb01").Down("bb02") }, "ovn-central/1", false, false,
			1, 1,
		},
		"this unit is cut off": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa01", "aa02").CutOff(), observetest.Up("bb00", "bb01", "bb02").CutOff()
		}, "ovn-central/1", false, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := observetest.JoinedBy4(t)
			c.change(&s)
			stop, err := status.OKToStop(s.Report(), c.unit)
			require.NoError(t, err)
			remove, err := status.OKToRemove(s.Report(), c.unit)
			require.NoError(t, err)
			assert.Equal(t, c.stop, stop.Against == nil)
			assert.Equal(t, c.remove, remove.Against == nil)
			assert.Len(t, stop.Lines, c.lines)
			if !c.stop {
				assert.Equal(t, finding.StopUnsafe, stop.Against.Code)
				assert.Len(t, stop.Against.Remedies, c.remedies)
			}
			if !c.remove {
				assert.Equal(t, finding.RemovalUnsafe, remove.Against.Code)
			}
			if c.stop && !c.remove { // a dead unit can't leave
				assert.Equal(t, "error REMOVAL_UNSAFE ovn-central/2 -> start the machine of {unit} {unit=ovn-central/2}"+
					" -> IF_LOST: remove-unit --force ovn-central/2 add-unit ovn-central {unit=ovn-central/2}", briefs(
					[]finding.Finding{*remove.Against})[0])
				assert.Equal(t, finding.MemberDown, remove.Against.Causes[0].Code)
			}
		})
	}
	_, err := status.OKToStop(observetest.JoinedBy4(t).Report(), "ovn-central/9")
	assert.Error(t, err)
}
