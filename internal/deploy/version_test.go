package deploy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/deploy"
)

func TestVersionIsThatOfBothPackages(t *testing.T) {
	t.Parallel()
	old := deploy.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}
	for name, tt := range map[string]struct {
		other  deploy.Version
		is     bool
		change string
	}{
		"the same":                    {old, true, ""},
		"newer OVN":                   {deploy.Version{OVN: "25.03.0-1", OVS: "3.1.0-2"}, false, "upgrade from 23.03.1-1 to 25.03.0-1"},
		"newer Open vSwitch":          {deploy.Version{OVN: "23.03.1-1", OVS: "4.0.0-1"}, false, "upgrade of openvswitch from 3.1.0-2 to 4.0.0-1"},
		"both newer":                  {deploy.Version{OVN: "25.03.0-1", OVS: "4.0.0-1"}, false, "upgrade from 23.03.1-1 to 25.03.0-1"},
		"Open vSwitch is not known":   {deploy.Version{OVN: "23.03.1-1"}, true, ""},
		"nor that OVN is another one": {deploy.Version{OVN: "25.03.0-1"}, false, "upgrade from 23.03.1-1 to 25.03.0-1"},
	} {
		assert.Equal(t, tt.is, old.Is(tt.other), name)
		assert.Equal(t, tt.is, tt.other.Is(old), name)
		if !tt.is {
			assert.Equal(t, tt.change, old.Change(tt.other), name)
		}
		assert.Equal(t, tt.other, deploy.ParseVersion(tt.other.String()), name)
		text, err := json.Marshal(map[string]deploy.Version{"ovn-northd": tt.other})
		require.NoError(t, err)
		var back map[string]deploy.Version
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, tt.other, back["ovn-northd"], name)
	}
}
