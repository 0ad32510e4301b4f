package recovery

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// A proof is complete once every staying unit has the write. A unit that was given up may stay off.
func TestProof_complete(t *testing.T) {
	two := func(second UnitProof) []UnitProof {
		second.Unit = unit(1)
		return []UnitProof{{Unit: unit(0), Member: true}, second}
	}
	tests := map[string]struct {
		proof    Proof
		findings []string
		broken   int
		lines    int
	}{
		"all have it": {Proof{Units: two(UnitProof{Member: true})}, nil, 0, 2},
		"one has not joined yet": {
			Proof{Units: two(UnitProof{})},
			[]string{
				"warning NOT_IN_NEW_CLUSTER nb ovn-central/1 Unit=ovn-central/1 -> start the machine of {unit} -> IF_LOST: " +
					"remove-unit --force ovn-central/1",
			},
			0, 1,
		},
		"one was given up": {Proof{Units: two(UnitProof{GivenUp: true})}, nil, 0, 2},
		"one that was given up has returned, and doesn't serve": {
			Proof{Units: two(UnitProof{GivenUp: true, Member: true, Failure: "not seen within 10s"})},
			[]string{"error RECOVERY_NOT_READ nb ovn-central/1 Unit=ovn-central/1 Detail=not seen within 10s " +
				"-> repair the server of {unit}, then run the same command again -> IF_LOST: ovn-central/0 kick " +
				"unit=ovn-central/1 dry-run=true"},
			1, 1,
		},
		"this unit doesn't serve": {
			Proof{Units: []UnitProof{{Unit: unit(0), Member: true, Failure: "no answer"}}},
			[]string{
				"error RECOVERY_NOT_READ nb ovn-central/0 Unit=ovn-central/0 Detail=no answer -> repair the server of {unit}, " +
					"then run the same command again",
			},
			1, 0,
		},
		"no majority has stored it": {
			Proof{Failure: "no answer", Units: two(UnitProof{})},
			[]string{"error RECOVERY_NOT_STORED nb Detail=no answer"},
			1,
			0,
		},
		"the unit itself is no member yet": {Proof{Unserved: true}, []string{"waiting RECOVERY_UNSERVED nb"}, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.proof.Database = ovndb.NB
			assert.Equal(t, test.findings == nil, test.proof.Complete())
			assert.Equal(t, test.findings, briefs(test.proof.Findings(unit(0))))
			assert.Len(t, test.proof.Broken(unit(0)), test.broken)
			assert.Len(t, test.proof.Proved(), test.lines)
		})
	}
	proved := func(units ...UnitProof) string { return findingtest.Brief(Proved(unit(0), []Proof{{Units: units}})) }
	const done = "info RECOVERY_PROVED"
	clients := " -> " + string(finding.ResetChassis) + " -> " + string(finding.SyncNeutron)
	assert.Equal(t, done+" -> remove-unit --force ovn-central/1 -> add-unit ovn-central -n 2"+clients,
		proved(two(UnitProof{GivenUp: true})...))
	assert.Equal(t, done+" -> add-unit ovn-central"+clients, proved(two(UnitProof{Member: true})...))
	assert.Equal(t, done+clients, proved(append(two(UnitProof{Member: true}), UnitProof{Unit: unit(2), Member: true})...))
}
