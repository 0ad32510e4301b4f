package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// R18: a client of the database wrote the target.
func TestListenerWithoutTLS(t *testing.T) {
	t.Parallel()
	const uuid = "0e0eaf6e-6b3c-4d55-8a59-6d1ffae6ab2e"
	s := well()
	edit(&s, ovndb.SB, func(x *plan.Database) {
		x.WithoutTLS = []plan.Listener{{Database: ovndb.SB, Target: "ptcp:1:\x1b" + strings.Repeat("x", 500), UUID: uuid}}
	})
	other := func(f finding.Finding) bool { return f.Code != finding.ListenerWithoutTLS }
	all := slices.DeleteFunc(plan.Decide(s).Findings, other)
	require.Len(t, all, 1)
	assert.Equal(t, `"ptcp:1:\x1b`+strings.Repeat("x", 52)+`"`, all[0].Args.Value)
	require.Len(t, all[0].Remedies, 1)
	words := []string{"sudo", "ovn-sbctl", "--no-leader-only", "remove", "SB_Global", ".", "connections", uuid}
	assert.Equal(t, command.OnMachine(s.Unit, words...), all[0].Remedies[0].Command)
}
