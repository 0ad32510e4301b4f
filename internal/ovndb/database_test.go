package ovndb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestEachDatabaseHasAShortNameAndAnOther(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []ovndb.Database{ovndb.NB, ovndb.SB}, ovndb.Databases())
	assert.Equal(t, []string{"nb", "sb"}, []string{ovndb.NB.Short(), ovndb.SB.Short()})
	for _, d := range ovndb.Databases() {
		assert.NotEqual(t, d, d.Other())
		assert.Equal(t, d, d.Other().Other())
	}
}
