package soak

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a unit's log prints for a stop that was refused is typed, as an operator would, but
// for what gives something up and what depends on what only a look at a machine tells.
func TestWaysOutOfAFailedHookAreTypedUnlessTheyDependOnMore(t *testing.T) {
	t.Parallel()
	output := `INFO nb: still a member, nothing was changed
ERROR cannot finish hook stop: nb: no unit that stays has joined
ERROR next: juju run ovn-central/0 resume
ERROR next: if ovn-central/1 knows a leader, this unit is cut off: juju run ovn-central/1 kick unit=ovn-central/0
ERROR next: start the machine of ovn-central/2
ERROR next: if ovn-central/2 is lost for good: juju remove-unit --force ovn-central/2; juju add-unit ovn-central
ERROR next: to remove the unit all the same, and leave its members behind: juju resolved --no-retry ovn-central/0
ERROR next: juju run ovn-central/0 resume
`
	found := ways(output)
	assert.Len(t, found, 1)
	assert.Equal(t, []string{"juju run ovn-central/0 resume"}, commands(found[0]))
}

func TestCommandsAreFoundInWhatIsPrinted(t *testing.T) {
	t.Parallel()
	line := "nb: x; run: juju add-unit ovn-central; juju remove-unit ovn-central/0"
	assert.Equal(t, []string{"juju add-unit ovn-central", "juju remove-unit ovn-central/0"}, commands(line))
	assert.Empty(t, commands("run action kick"))
	assert.Equal(t, []string{`nb-identity="1234"`, "force=true"}, unquoted([]string{`nb-identity='"1234"'`, "force=true"}))
}
