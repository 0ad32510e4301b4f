package membership_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
)

// A stop that is refused leaves the agent running; one that needs no leave stops it all the same.
func TestAgentIsStoppedBeforeTheServicesEndAndNotByAStopThatIsRefused(t *testing.T) {
	const agent = "the agent stops"
	stop := func(s observetest.Scenario) (told []string) {
		m := new(observetest.Machine)
		service := on(s, m)
		service.BeforeLeaving = func(context.Context) { m.Told = append(m.Told, agent) }
		synctest.Test(t, func(t *testing.T) {
			_, _ = service.Stop(t.Context(), s.Application(), observe.Cache{}) // the test looks only at what is done
		})
		return m.Told
	}
	s := going(t)
	everybodyGoes(&s)
	assert.Equal(t, append([]string{agent}, stops...), stop(s))

	s = going(t)
	s.NB = observetest.Up("aa00", "aa01").Down("aa04")
	assert.Empty(t, stop(s), "one that is refused")
}
