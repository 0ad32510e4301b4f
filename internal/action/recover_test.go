package action

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
)

// The command is whole on the last line.
func TestCompletedCommand(t *testing.T) {
	t.Parallel()
	u := unit(t, new(agent))
	next := command.Command{Unit: "ovn-central/0", Action: "recover", Params: []command.Param{{Key: "dry-run", Value: "true"}}}
	const line = "juju run ovn-central/0 recover dry-run=true"
	assert.Empty(t, u.completed(reconcile.RecoverResult{GiveUp: []string{"a/1"}}))
	assert.Equal(t, []string{line}, u.completed(reconcile.RecoverResult{Next: next}))
	assert.Equal(t, []string{"if a/1 is lost for good, power it off, then:", line}, u.completed(reconcile.RecoverResult{Next: next, GiveUp: []string{"a/1"}}))
	assert.Equal(t, []string{"if a/1, a/2 and a/3 are lost for good, power them off, then:", line},
		u.completed(reconcile.RecoverResult{Next: next, GiveUp: []string{"a/1", "a/2", "a/3"}}))
}
