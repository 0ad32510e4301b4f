package recovery

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Nothing is called proved while a unit that stays lacks the write; one that was given up
// may be off for good.
func TestProofIsCompleteOnceEveryUnitThatStaysHasTheWrite(t *testing.T) {
	tests := map[string]struct {
		proof    Proof
		complete bool
		broken   int
		last     string
	}{
		"all have it": {
			Proof{Units: []UnitProof{{Unit: unit(0), Member: true}, {Unit: unit(1), Member: true}}},
			true, 0,
			"nb: ovn-central/1 is a member, and an acknowledged write was read back from its server",
		},
		"one has not joined yet": {
			Proof{Units: []UnitProof{{Unit: unit(0), Member: true}, {Unit: unit(1)}}},
			false, 0,
			"nb: ovn-central/1 is not a member yet; it joins in its next hook (if it is lost: juju remove-unit --force ovn-central/1)",
		},
		"one was given up": {
			Proof{Units: []UnitProof{{Unit: unit(0), Member: true}, {Unit: unit(1), GivenUp: true}}},
			true, 0,
			"nb: ovn-central/1 was given up, and is no member; it joins if it returns",
		},
		"one that was given up has returned, and doesn't serve": {
			Proof{Units: []UnitProof{{Unit: unit(0), Member: true}, {Unit: unit(1), GivenUp: true, Member: true, Failure: "not seen within 10s"}}},
			false, 1,
			"nb: ovn-central/0 is a member, and an acknowledged write was read back from its server",
		},
		"no majority has stored it": {
			Proof{Failure: "no answer", Units: []UnitProof{{Unit: unit(0), Member: true}}},
			false, 1,
			"nb: the cluster has not acknowledged a write: no answer",
		},
		"the unit itself is no member yet": {
			Proof{Waiting: "this unit is not a member of the new cluster yet"},
			false, 0,
			"nb: nothing was written yet: this unit is not a member of the new cluster yet",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.proof.Database = ovndb.NB
			assert.Equal(t, test.complete, test.proof.Complete())
			assert.Len(t, test.proof.Broken(), test.broken)
			lines := test.proof.Lines()
			assert.Equal(t, test.last, lines[len(lines)-1])
		})
	}
}
