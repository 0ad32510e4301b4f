package ovndb_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestVersionIsThatOfBothPackages(t *testing.T) {
	t.Parallel()
	old := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}
	for name, tt := range map[string]struct {
		other  ovndb.Version
		is     bool
		change string
	}{
		"the same":                    {old, true, ""},
		"newer OVN":                   {ovndb.Version{OVN: "25.03.0-1", OVS: "3.1.0-2"}, false, "upgrade from 23.03.1-1 to 25.03.0-1"},
		"newer Open vSwitch":          {ovndb.Version{OVN: "23.03.1-1", OVS: "4.0.0-1"}, false, "upgrade of openvswitch from 3.1.0-2 to 4.0.0-1"},
		"both newer":                  {ovndb.Version{OVN: "25.03.0-1", OVS: "4.0.0-1"}, false, "upgrade from 23.03.1-1 to 25.03.0-1"},
		"Open vSwitch is not known":   {ovndb.Version{OVN: "23.03.1-1"}, true, ""},
		"nor that OVN is another one": {ovndb.Version{OVN: "25.03.0-1"}, false, "upgrade from 23.03.1-1 to 25.03.0-1"},
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

// Charmed OpenStack Upgrader compares it as PEP 440 says (cou/apps/auxiliary.py), which a
// revision of the package would not pass.
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
