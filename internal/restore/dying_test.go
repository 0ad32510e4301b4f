package restore

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// The request of a unit that is being removed would be kept, and never carried out. Which of the units that stay is
// lost is not known there.
func TestRefuseDying(t *testing.T) {
	t.Parallel()
	u := &Unit{Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/0"}}}
	const first = "error RECOVERY_DYING -> ovn-central/0 backup -> "
	const elsewhere, anew = string(finding.RestoreThere), string(finding.RestoreAnew)
	copied := &recovery.Copy{Cluster: "c"}
	for name, test := range map[string]struct {
		dying bool
		peers []recovery.Peer
		want  []string
	}{
		"it stays": {false, []recovery.Peer{{Unit: "ovn-central/1", Copy: copied}}, nil},
		"a unit that stays has a copy": {
			true, []recovery.Peer{{Unit: "ovn-central/1", Dying: true, Copy: copied}, {Unit: "ovn-central/2", Copy: copied}},
			[]string{first + elsewhere},
		},
		"one that stays has none": {
			true,
			[]recovery.Peer{
				{Unit: "ovn-central/1", Dying: true, Copy: copied}, {Unit: "ovn-central/2", Copy: &recovery.Copy{Cluster: "d"}},
			}, []string{first + anew},
		},
		"none stays": {
			true, []recovery.Peer{{Unit: "ovn-central/1", Dying: true, Copy: copied}}, []string{first + anew},
		},
	} {
		s := plan.State{
			Dying: test.dying, Recovery: map[ovndb.Database]recovery.State{ovndb.NB: {Cluster: "c", Peers: test.peers}},
		}
		assert.Equal(t, test.want, briefs(u.refuseDying(s)), name)
	}
}
