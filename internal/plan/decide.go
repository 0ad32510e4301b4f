package plan

import "github.com/ovn-central/ovn-central-operator/internal/ovndb"

func look(s State, d *Decision) *view {
	unit := view{State: s, decision: d}
	if own := s.ownClusters(); own != nil {
		unit.Clusters.IDs, unit.contested = own, true
	}
	for _, db := range ovndb.Databases() {
		one := unit
		one.db, one.x = db, s.Databases[db]
		unit.databases = append(unit.databases, &one)
	}
	return &unit
}

// Decide returns the next step. Call it after each step, with a new observation; if it returns no step, the unit is as
// it should be, or waits.
func Decide(s State) Decision {
	d := Decision{Ready: s.ready()}
	unit, w := look(s, &d), walk{mode: s.mode(), decided: map[decidedBy]bool{}}
	for i := range rules {
		r := &rules[i]
		views := []*view{unit}
		if r.perDatabase() {
			views = unit.databases
		}
		for _, v := range views {
			if !w.skips(r, v.db) && r.when(v) {
				w.apply(r, v)
			}
		}
	}
	return d
}

// walk is the way through the table.
type walk struct {
	mode    mode
	decided map[decidedBy]bool
	// ended is the rule that ended it.
	ended *rule
}

type decidedBy struct {
	subject  subject
	database ovndb.Database
}

func (w *walk) skips(r *rule, db ovndb.Database) bool {
	in := r.in
	if in == 0 {
		in = working
	}
	return in&w.mode == 0 || w.ended != nil && w.ended != r && !r.always || w.decided[decidedBy{r.of, db}]
}

func (w *walk) apply(r *rule, v *view) {
	if r.of != "" && !r.more {
		w.decided[decidedBy{r.of, v.db}] = true
	}
	if r.ends&w.mode != 0 {
		w.ended = r
	}
	d := v.decision
	d.Rules = append(d.Rules, r.name)
	if r.step != nil && d.Step == nil {
		v.rule = r.name
		step := r.step(v)
		d.Step, d.By = &step, r.name
	}
	if r.find != nil {
		d.Findings = append(d.Findings, r.find(v))
	}
	if r.list != nil {
		d.Findings = append(d.Findings, r.list(v)...)
	}
}
