package plan_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// randomStates calls a function with states of a fixed seed.
func randomStates(visit func(plan.State)) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 25000 {
		visit(randomState(r))
	}
}

// A state exists in which a rule applies, after all rules that may end the walk or decide about the same subject; and
// one in which its step is the first.
func TestRules_each_applies(t *testing.T) {
	t.Parallel()
	applies, decides := map[string]bool{}, map[string]bool{}
	randomStates(func(s plan.State) {
		d := plan.Decide(s)
		decides[d.By] = true
		for _, name := range d.Rules {
			applies[name] = true
		}
	})
	all, steps := plan.Rules()
	for i, name := range all {
		assert.NotContains(t, all[:i], name, "two rules have a name")
		assert.True(t, applies[name], "rule %q never applies", name)
	}
	for _, name := range steps {
		assert.True(t, decides[name], "the step of rule %q is never the next", name)
	}
}

// A rule precedes the next one of its subject on purpose, or both never hold at once.
func TestRules_overlaps_are_declared(t *testing.T) {
	t.Parallel()
	overlap := map[string]bool{}
	randomStates(func(s plan.State) {
		for _, name := range plan.Overlapping(s) {
			overlap[name] = true
		}
	})
	declared := plan.Outranking()
	for name := range overlap {
		assert.Contains(t, declared, name, "the rule and the next one of its subject can both hold")
	}
	for _, name := range declared {
		assert.True(t, overlap[name], "rule %q and the next one of its subject never hold at once", name)
	}
}

// Nothing keeps a unit from rewriting a file that lacks entries, or from reporting one that can't be used.
func TestRules_data_come_first(t *testing.T) {
	t.Parallel()
	randomStates(func(s plan.State) {
		d := plan.Decide(s)
		has := func(db ovndb.Database, code finding.Code) bool {
			return slices.ContainsFunc(d.Findings, func(f finding.Finding) bool {
				return f.Code == code && slices.Contains(f.Subject.Databases, db)
			})
		}
		assert.Equal(t, s.Disk != "", finding.Has(d.Findings, finding.DiskFull), "by rules %q", d.Rules)
		for _, db := range ovndb.Databases() {
			x := s.Databases[db]
			given := slices.Contains(s.Clusters.Superseded[db], x.Cluster)
			lacks := x.Condition == ovndb.Serving && x.Damage != "" && !given
			assert.Equal(t, lacks, has(db, finding.FileLacksEntries), "%s: by rules %q", db, d.Rules)
			if lacks && x.RewriteFailure == "" {
				assert.Equal(t, plan.RewriteFile, d.Step.Kind, "%s: by rule %q", db, d.By)
			}
		}
	})
}
