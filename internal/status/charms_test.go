package status_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// Each unit is written as the version that it runs, and those that it has seen.
func TestUnitWithAnotherVersionOfTheCharm(t *testing.T) {
	t.Parallel()
	const again = " -> run the last juju refresh again, while the agent of {unit} runs"
	named := func(unit, charm string) string {
		return "warning CHARM_VERSION_DIFFERS " + unit + " Unit=" + unit + " Version=" + charm + again
	}
	for name, c := range map[string]struct {
		own, one, two string
		going         string
		want          []string
	}{
		"all alike":                      {"B", "B", "B", "", []string{}},
		"silent":                         {"B", "B", "A", "", []string{}},
		"silent, has seen an older one":  {"C", "C", "A B", "", []string{}},
		"has run a hook":                 {"B", "B", "A B", "", []string{named("ovn-central/2", "A")}},
		"has run a hook, is removed":     {"B", "B", "A B", "ovn-central/2", []string{}},
		"one has run a hook, one not":    {"B", "A", "A B", "", []string{named("ovn-central/2", "A")}},
		"this unit, the first upgraded":  {"B", "A", "A", "", []string{}},
		"this unit, behind":              {"A", "B A", "B A", "", []string{named("ovn-central/0", "A")}},
		"others were silent":             {"B", "A B", "A B", "", []string{named("ovn-central/0", "B")}},
		"no majority":                    {"B", "A B", "", "", []string{named("ovn-central/1", "A")}},
		"this unit's version is unknown": {"", "A", "B A", "", []string{}},
		"others publish none":            {"B", "", "", "", []string{}},
	} {
		r := observetest.Three(t).Report()
		r.Application.Charm, r.Application.Peers = c.own, map[string]observe.Peer{}
		for unit, text := range map[string]string{"ovn-central/1": c.one, "ovn-central/2": c.two} {
			charm, seen, _ := strings.Cut(text, " ")
			r.Application.Peers[unit] = observe.Peer{State: relation.UnitState{Charm: charm, CharmsSeen: strings.Fields(seen)}}
		}
		if goal, is := r.Application.Goal[c.going]; is {
			goal.Status = "dying"
			r.Application.Goal[c.going] = goal
		}
		assert.Equal(t, c.want, briefs(status.Clusters(r)), name)
	}
}
