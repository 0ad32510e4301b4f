package hook

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// The snapshot shares its identities with its application and its cache.
func TestSnapshot_keeps_left_servers(t *testing.T) {
	observed := relation.Identities{ovndb.NB: {Server: "aa00"}, ovndb.SB: {Server: "bb00"}}
	own := maps.Clone(observed)

	kept := remaining(own, []membership.LeaveResult{{Database: ovndb.NB, Gone: true}, {Database: ovndb.SB}})
	assert.Equal(t, relation.Identities{ovndb.SB: {Server: "bb00"}}, kept)
	assert.Equal(t, observed, own)
}
