package steps

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// While the probe's option is invalid, its default serves a database without listeners, and changes no others.
func TestJudgeListeners(t *testing.T) {
	t.Parallel()
	var valid, invalid Snapshot
	valid.Known.Settings.InactivityProbe, invalid.Known.Settings.InactivityProbe = time.Minute, time.Minute
	invalid.Known.Invalid = map[string]string{plan.OptionInactivityProbe: "-1"}
	rows := func(probe time.Duration) (all []ovsdb.Listener) {
		for _, c := range ovsdb.WantedConnections(ovndb.NB, probe, false) {
			all = append(all, ovsdb.Listener{Connection: c})
		}
		return all
	}
	for name, test := range map[string]struct {
		o    Snapshot
		rows []ovsdb.Listener
		want plan.Drift
	}{
		"as wanted":            {valid, rows(time.Minute), plan.InSync},
		"other probe":          {valid, rows(time.Hour), plan.Drifted},
		"none":                 {valid, nil, plan.Drifted},
		"invalid, other probe": {invalid, rows(time.Hour), ""},
		"invalid, none":        {invalid, nil, plan.Drifted},
	} {
		drift, _ := test.o.judgeListeners(ovndb.NB, test.rows)
		assert.Equal(t, test.want, drift, name)
	}
	exposed := ovsdb.Listener{Connection: ovsdb.Connection{Target: "ptcp:6641"}, UUID: "u"}
	_, found := invalid.judgeListeners(ovndb.NB, []ovsdb.Listener{exposed})
	assert.Equal(t, []plan.Listener{{Database: ovndb.NB, Target: exposed.Target, UUID: exposed.UUID}}, found)
}
