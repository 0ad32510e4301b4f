package reconcile

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// A unit that finds none active asks, and one that is asked says how its own is, and that it was asked.
func TestUnitStateOfNorthd(t *testing.T) {
	t.Parallel()
	u := playedUnit(observetest.Three(t), new(observetest.Machine))
	u.Log = slog.New(slog.DiscardHandler)
	at := time.Unix(1764000000, 0).UTC()
	m := observetest.Three(t).Application()
	m.Peers = map[string]observe.Peer{"ovn-central/1": {State: relation.UnitState{NorthdAsked: at}}, "ovn-central/2": {}, "ovn-central/9": {State: relation.UnitState{NorthdAsked: at}}}
	r, err := u.loadRecord()
	require.NoError(t, err)
	p := pass{record: r, inputs: inputs{address: netip.MustParseAddr("10.0.0.1"), hosts: []string{"m"}}}
	p.result.Snapshot.Application = m
	p.result.state.Northd, p.result.state.Northds = ovndb.NorthdActive, plan.Northd{Found: plan.NorthdActive}
	d := u.unitState(p)
	assert.Equal(t, "active", d.Northd)
	assert.True(t, d.NorthdAsked.IsZero())
	assert.Equal(t, map[string]time.Time{"ovn-central/1": at}, d.NorthdHeard)

	p.result.state.Northd, p.result.state.Northds = ovndb.NorthdStandby, plan.Northd{Found: plan.NorthdNone, Since: at, Asked: at.Add(time.Minute)}
	assert.Equal(t, at.Add(time.Minute), u.unitState(p).NorthdAsked)
}
