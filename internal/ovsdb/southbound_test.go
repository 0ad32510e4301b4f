package ovsdb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Unknown is down (R0): a number ahead of nb_cfg was reached before an older database was restored.
func TestResponds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config   int64
		row      ovsdb.ChassisRow
		responds bool
	}{
		"it follows":                    {5001, ovsdb.ChassisRow{Known: true, Follows: 5001}, true},
		"it lags":                       {5001, ovsdb.ChassisRow{Known: true, Follows: 5000}, false},
		"it has died before a restore":  {5001, ovsdb.ChassisRow{Known: true, Follows: 8700}, false},
		"it has no row to follow with":  {5001, ovsdb.ChassisRow{}, true},
		"nothing was asked of it yet":   {0, ovsdb.ChassisRow{Known: true}, true},
		"nothing was asked in this one": {0, ovsdb.ChassisRow{Known: true, Follows: 8700}, true},
	} {
		assert.Equal(t, test.responds, ovsdb.Southbound{Config: test.config}.Responds(test.row), name)
	}
}
