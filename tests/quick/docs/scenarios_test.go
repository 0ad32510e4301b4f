package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// CONTRIBUTING.md: every third scenario is played in the ways of Juju 4, by its name. With
// LAB_JUJU all are.
func TestEveryThirdScenarioIsPlayedInTheWaysOfJuju4(t *testing.T) {
	t.Setenv("LAB_JUJU", "")
	tests := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, suite := range []string{"functional", "deployment"} {
		files, err := filepath.Glob(filepath.Join("..", suite, "*_test.go"))
		require.NoError(t, err)
		all, inItsWays := 0, 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, name := range tests.FindAllSubmatch(text, -1) {
				all++
				if lab.JujuOf(string(name[1])) == lab.Juju4 {
					inItsWays++
				}
			}
		}
		require.Greater(t, all, 50, suite)
		assert.Greater(t, 4*inItsWays, all, "%s: %d of %d", suite, inItsWays, all)
		assert.Less(t, 2*inItsWays, all, "%s: %d of %d", suite, inItsWays, all)
	}
	assert.Equal(t, lab.Juju3, lab.JujuOf(""))
	ways := lab.WaysOf(lab.Juju4)
	assert.True(t, ways.PeersStay && ways.NoLeaderSettings && ways.Late > 0 && ways.JoinsApart > 0 && ways.GoneAfter > 0 && ways.StatusCut == 120, "%+v", ways)
	t.Setenv("LAB_JUJU", lab.Juju4)
	assert.Equal(t, lab.Juju4, lab.JujuOf(""))
}
