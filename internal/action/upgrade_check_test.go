package action

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShownSources_hides_password(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "distro", shownSources("distro", "distro"))
	assert.Equal(t, "cloud:jammy-caracal, ovn-source cloud:jammy-ovn-24.03",
		shownSources("cloud:jammy-caracal", "cloud:jammy-ovn-24.03"))
	assert.NotContains(t, shownSources("deb https://me:secret@host/ jammy main", ""), "secret")
}
