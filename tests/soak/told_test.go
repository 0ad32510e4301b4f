package soak

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMessagesThatTheHowToTellsOfAreKnown(t *testing.T) {
	t.Parallel()
	told, err := Told(filepath.Join("..", "..", "docs", "how-to", "when-a-unit-is-blocked-or-waits.md"))
	require.NoError(t, err)
	for message, want := range map[string]bool{
		"sb has no quorum: 1 of 3 up, 2 needed":                         true,
		"nb: waiting for ovn-central/7 to serve cluster 1f2e":           true,
		"option ovsdb-server-election-timer is 99; it must be less":     true,
		"nb: the server hangs: it did not answer":                       true,
		"nb: something is odd":                                          false,
		"certificates: waiting for the certificate":                     true,
		"the certificate that was issued can't be used: it has expired": true,
		"blue": false,
	} {
		assert.Equal(t, want, tells(told, message), message)
	}
	assert.False(t, tells([][]string{{"a", "b"}}, "only an a"))
}

func TestCommandsAreFoundInWhatIsPrinted(t *testing.T) {
	t.Parallel()
	line := "nb: x; run: juju add-unit ovn-central; juju remove-unit ovn-central/0"
	assert.Equal(t, []string{"juju add-unit ovn-central", "juju remove-unit ovn-central/0"}, commands(line))
	assert.Empty(t, commands("run action kick"))
}
