package soak

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMessagesThatTheHowToTellsOfAreKnown(t *testing.T) {
	t.Parallel()
	told, err := Told(filepath.Join("..", "..", "..", "docs", "how-to", "when-a-unit-is-blocked-or-waits.md"))
	require.NoError(t, err)
	for message, want := range map[string]bool{
		"sb: no quorum; run: juju run ovn-central/0 recover dry-run=true (1 of 3 members answer)": true,
		"nb: waiting for ovn-central/7 to serve cluster 1f2e":                                     true,
		"option ovsdb-server-election-timer is 99; it must be less":                               true,
		"nb: the server hangs: it did not answer":                                                 true,
		"nb: something is odd": false,
		"'ovsdb-peer' incomplete, 'certificates' awaiting server certificate data from vault/0 for 10.0.0.1": true,
		"the new certificate can't be used; the old one stays in use (it has expired)":                       true,
		"nb: a leader is being elected; 3 of 5 members answer":                                               true,
		"nb: this unit's server hears no leader, 3 of 4 members do; is port 6643 open?":                      true,
		"nb: a leader is known, but this unit sees only 1 of 4 members up (x: y)":                            true,
		"blue": false,
	} {
		assert.Equal(t, want, tells(told, message), message)
	}
	assert.False(t, tells([][]string{{"a", "b"}}, "only an a"))
}

// What a unit says that waits or is blocked is what the reference lists; of each line
// the how-to tells what to type, or the line does, so that [silent] finds what is new.
func TestEachStatusOfTheReferenceIsToldOfOrHasItsCommand(t *testing.T) {
	t.Parallel()
	told, err := Told(filepath.Join("..", "..", "..", "docs", "how-to", "when-a-unit-is-blocked-or-waits.md"))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "statuses.md"))
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| (?:waiting|blocked) \\| `([^`]+)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(rows), 30)
	for _, row := range rows {
		if of := strings.NewReplacer("ovn-central/1", "ovn-central/7", "nb: ", "sb: ", "2 of 3", "4 of 5"); len(commands(row[1])) == 0 {
			assert.True(t, tells(told, of.Replace(row[1])), row[1])
		}
	}
}

func TestCommandsAreFoundInWhatIsPrinted(t *testing.T) {
	t.Parallel()
	line := "nb: x; run: juju add-unit ovn-central; juju remove-unit ovn-central/0"
	assert.Equal(t, []string{"juju add-unit ovn-central", "juju remove-unit ovn-central/0"}, commands(line))
	assert.Empty(t, commands("run action kick"))
	for line, want := range map[string]string{
		"nb, sb: no quorum; run: juju run ovn-central/0 recover dry-run=true (1 of 3 members answer; none from ovn-central/1)":                 "juju run ovn-central/0 recover dry-run=true",
		"no more may fail; stale member: juju run ovn-central/0 kick unit=ovn-central/2 i-really-mean-it=true (nb 13fe (was ovn-central/2))":   "juju run ovn-central/0 kick unit=ovn-central/2 i-really-mean-it=true",
		"stale member: juju run ovn-central/0 kick nb-identity='\"1234\"' i-really-mean-it=true (nb 1234 at ssl:10.0.0.1:6643, which is up)":   `juju run ovn-central/0 kick nb-identity='"1234"' i-really-mean-it=true`,
		"juju run ovn-central/0 kick nb-identity=13fe5a2b i-really-mean-it=true (nb 13fe (was ovn-central/2)); no more may fail; stale member": "juju run ovn-central/0 kick nb-identity=13fe5a2b i-really-mean-it=true",
		"nb: its file can't be read; run: juju run ovn-central/leader kick unit=ovn-central/0 force=true i-really-mean-it=true (no)":           "juju run ovn-central/leader kick unit=ovn-central/0 force=true i-really-mean-it=true",
	} {
		assert.Equal(t, []string{want}, commands(line))
	}
	assert.Equal(t, []string{`nb-identity="1234"`, "force=true"}, unquoted([]string{`nb-identity='"1234"'`, "force=true"}))
}
