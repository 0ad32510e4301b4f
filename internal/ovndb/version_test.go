package ovndb_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	old := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}
	const upgrade, upgradeOVS = "upgrade from 23.03.1-1 to 25.03.0-1", "upgrade of openvswitch from 3.1.0-2 to 4.0.0-1"
	for name, tt := range map[string]struct {
		other  ovndb.Version
		is     bool
		change string
	}{
		"equal":             {old, true, ""},
		"newer_OVN":         {ovndb.Version{OVN: "25.03.0-1", OVS: "3.1.0-2"}, false, upgrade},
		"newer_OVS":         {ovndb.Version{OVN: "23.03.1-1", OVS: "4.0.0-1"}, false, upgradeOVS},
		"both_newer":        {ovndb.Version{OVN: "25.03.0-1", OVS: "4.0.0-1"}, false, upgrade},
		"unknown_OVS":       {ovndb.Version{OVN: "23.03.1-1"}, true, ""},
		"newer_unknown_OVS": {ovndb.Version{OVN: "25.03.0-1"}, false, upgrade},
	} {
		assert.Equal(t, tt.is, old.Is(tt.other), name)
		assert.Equal(t, tt.is, tt.other.Is(old), name)
		if !tt.is {
			assert.Equal(t, tt.change, old.Change(tt.other), name)
		}
		assert.Equal(t, tt.other, ovndb.ParseVersion(tt.other.String()), name)
		text, err := json.Marshal(map[string]ovndb.Version{"ovn-northd": tt.other})
		require.NoError(t, err)
		var back map[string]ovndb.Version
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, tt.other, back["ovn-northd"], name)
	}
}

// Charmed OpenStack Upgrader compares versions by PEP 440 (cou/apps/auxiliary.py), which excludes the package's
// revision.
func TestUpstream(t *testing.T) {
	t.Parallel()
	for installed, shown := range map[string]string{
		"22.03.3-0ubuntu0.22.04.4":        "22.03.3",
		"23.03.1-1~deb12u2":               "23.03.1",
		"24.03.2-0ubuntu0.24.04.1~cloud0": "24.03.2",
		"1:25.09.0-1":                     "25.09.0",
		"":                                "",
	} {
		assert.Equal(t, shown, ovndb.Upstream(installed))
	}
}
