package action

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Without a format it is the Python charm's document, byte for byte: programs look for a line
// with a service and its reason.
func TestDeferredRestartsAreShownAsProgramsReadThem(t *testing.T) {
	t.Parallel()
	one, all := map[ovndb.Service]string{ovndb.Northd: "Package update"}, map[ovndb.Service]string{}
	for _, service := range plan.RestartOrder() {
		all[service] = "Package update"
	}
	const northd = "  - 0 ovn-northd                               Package update"
	for _, c := range []struct {
		pending      map[ovndb.Service]string
		format, want string
	}{
		{nil, "", "hooks: []\nrestarts: []"},
		{one, "", "hooks: []\nrestarts:\n" + northd},
		{nil, "text", "nothing is held back\n"},
		{one, "text", "restart ovn-northd: Package update\n"},
		{nil, "yaml", "[]"},
		{one, "yaml", "- service: ovn-northd\n  action: restart\n  reason: Package update"},
	} {
		shown, err := deferredOutput(c.pending, c.format)
		require.NoError(t, err)
		assert.Equal(t, c.want, shown, "%v %s", c.pending, c.format)
	}
	shown, err := deferredOutput(all, "")
	require.NoError(t, err)
	assert.Contains(t, shown, "\n  - 0 ovn-central                              Package update", "what stands for all of them")
}
