package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStepsAreToldOnTheirRunners(t *testing.T) {
	t.Parallel()
	told := func(runner Runner) (names []string) {
		for _, step := range On(runner, Life) {
			names = append(names, step.Name)
		}
		return names
	}
	assert.Len(t, told(Lab), len(Life))
	for _, runner := range everywhere {
		assert.Contains(t, told(runner), Grown.Name, runner)
	}
	for _, runner := range ownMachines {
		assert.Contains(t, told(runner), Restarted.Name, runner)
	}
	assert.NotContains(t, told(Client), Restarted.Name, "a controller's machines are not the tests' own")
}
