package juju

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The machine of the story that is turned off may run a hook in that moment.
func TestHooksMayFailOfAUnitThatIsDownOnly(t *testing.T) {
	t.Parallel()
	w := &watch{out: io.Discard, last: map[string]string{}, scene: Scene{Certified: true, Down: []string{"ovn-central/4"}}}
	w.see("ovn-central/4", "error", `hook failed: "update-status"`)
	assert.Empty(t, w.wrong)
	w.see("ovn-central/1", "error", `hook failed: "update-status"`)
	assert.Len(t, w.wrong, 1)
}
