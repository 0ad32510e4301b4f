package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

// S15: a name in the database is not to become a command.
func TestRemove_command_is_quoted(t *testing.T) {
	t.Parallel()
	for _, name := range shelltest.Hostile {
		x := snapshot{inventory: gateway.BuildInventory(ovsdb.Northbound{
			Groups: []ovsdb.HAChassisGroup{
				{UUID: "H", Name: name, Members: []string{"M"}},
			}, HAChassis: map[string]ovsdb.CandidateRow{"M": {UUID: "M", Chassis: name + "1"}},
		}, ovsdb.Southbound{})}
		refused := new(Service).keeps(x, maintenance.Node{Chassis: name + "1", Life: maintenance.Absent})
		require.NotNil(t, refused)
		require.Len(t, refused.Details.MessageList, 1)
		_, command, found := strings.Cut(refused.Details.MessageList[0].Message, "run: ")
		require.True(t, found)
		assert.Equal(t, []string{"ovn-nbctl", "ha-chassis-group-remove-chassis", name, name + "1"},
			shelltest.Words(t, command))
	}
}
