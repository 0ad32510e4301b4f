package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const told = `
== A unit goes

$ juju remove-unit ovn-central/2
   gone after 1.2 s

$ juju run ovn-central/0 kick nb-identity=1da5404b-6218-4142-9ceb-4f8b285ebc77 i-really-mean-it=true
ovnnb: |-
  "quoted", and ü
`

func TestRecordingShowsWhatWasPrinted(t *testing.T) {
	t.Parallel()
	recording, err := cast([]byte(told))
	require.NoError(t, err)
	shown, err := printedIn(recording)
	require.NoError(t, err)
	assert.Equal(t, told, string(shown))
	lines := strings.Split(string(recording), "\n")
	assert.JSONEq(t, `{"version":2,"width":150,"height":45,"title":"ovn-central operator: make demo"}`, lines[0])
	assert.Equal(t, `[1.03, "o", "== A unit goes\r\n"]`, lines[2])
}

func TestRecordingOfAnotherStoryIsFound(t *testing.T) {
	t.Parallel()
	recording, err := cast([]byte(told))
	require.NoError(t, err)
	same := strings.NewReplacer("/2", "/0", "1.2 s", "9.9 s", "1da5404b-6218-4142-9ceb-4f8b285ebc77", "ffff404b-6218-4142-9ceb-4f8b285ebc77").Replace(told)
	require.NoError(t, compare(recording, []byte(same)))
	for change, says := range map[string]string{
		strings.Replace(told, "A unit goes", "A unit stays", 1): `"== A unit goes" where the demo has "== A unit stays"`,
		strings.Replace(told, "remove-unit", "remove-units", 1): "make demo RECORD=1",
		told + "$ juju status\n":                                `"the end" where the demo has "$ juju status"`,
		strings.Replace(told, " i-really-mean-it=true", "", 1):  "i-really-mean-it=true",
	} {
		require.ErrorContains(t, compare(recording, []byte(change)), says)
	}
	require.Error(t, compare(nil, nil))
	require.ErrorContains(t, compare([]byte("{}\n"), nil), "no command")
}
