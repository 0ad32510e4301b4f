package relation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestMembers_round_trip(t *testing.T) {
	t.Parallel()
	m := Members{ovndb.NB: {"ssl:10.0.0.2:6643", "ssl:10.0.0.1:6643", "ssl:10.0.0.2:6643", "ssl:[fd77::1]:6643"}}
	databag := m.Databag()
	assert.Equal(t, map[string]string{"nb-members": "ssl:10.0.0.1:6643,ssl:10.0.0.2:6643,ssl:[fd77::1]:6643"}, databag,
		"of a database that this unit can't tell of, what stands there stays")
	assert.Equal(t, Members{ovndb.NB: {"ssl:10.0.0.1:6643", "ssl:10.0.0.2:6643", "ssl:[fd77::1]:6643"}}, ParseMembers(databag))
	assert.Empty(t, ParseMembers(nil))
}

// Unread, empty and present data differ.
func TestData_unread_is_not_empty(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data          Data
		unread, empty bool
	}{
		"not read":         {Data{}, true, false},
		"nothing there":    {Read(nil), false, true},
		"Juju's own":       {Read(map[string]string{"egress-subnets": "10.0.0.2/32", "private-address": "10.0.0.2"}), false, true},
		"taken away again": {Read(map[string]string{"nb-identity": ""}), false, true},
		"something":        {Read(map[string]string{"nb-identity": "13e4"}), false, false},
	} {
		assert.Equal(t, tt.unread, tt.data.Unread(), name)
		assert.Equal(t, tt.empty, tt.data.Empty(), name)
	}
}
