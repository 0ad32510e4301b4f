package soak

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// What the player reads of a finding is the product's own document: the units that it is about, and the command under
// the condition that they are lost.
func TestFindingOfARecoveryIsReadFromItsDocument(t *testing.T) {
	t.Parallel()
	s := recovery.State{Database: ovndb.NB, Unit: "ovn-central/0", Cluster: "c", Own: &recovery.Copy{Cluster: "c"}, Members: []recovery.Member{
		{ID: "aaaa0000", Unit: "ovn-central/0", Exists: true}, {ID: "bbbb0000", Unit: "ovn-central/1"}, {ID: "cccc0000"},
	}}
	docs := present.Documents(juju.Version{Major: 3}, s.Judge(recovery.Request{Cluster: "c"}).Refusals)
	assert.Len(t, docs, 1)
	assert.Equal(t, string(finding.RecoveryMayReturn), docs[0].Code)
	assert.Equal(t, []string{"cccc0000", "ovn-central/1"}, named(docs[0]))
	line := under(docs[0], finding.IfOff)
	assert.Equal(t, map[string]string{"give-up": "cccc0000,ovn-central/1", "dry-run": "true"}, parameters(line))
	assert.Empty(t, under(docs[0], finding.IfLost))
	assert.False(t, mustInsist(docs))
	ended := finding.Of(finding.RecoveryEnded, ovndb.NB, finding.Args{}, finding.If(finding.IfSinceLost, recovery.Request{}.Command("ovn-central/0", nil, "again")))
	assert.True(t, mustInsist(present.Documents(juju.Version{Major: 3}, []finding.Finding{ended})))
	both := finding.New(finding.RecoveryNewerData, finding.Subject{Databases: ovndb.Databases(), Name: "ovn-central/2"}, finding.Args{})
	assert.Equal(t, []string{"ovn-central/2"}, named(present.Documents(juju.Version{Major: 3}, []finding.Finding{both})[0]))
}
