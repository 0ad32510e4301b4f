package plan

import (
	"cmp"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// mode is a kind of situation of the unit; it limits the rules that apply.
type mode uint8

// The modes, as bits of a set.
const (
	// working permits everything.
	working mode = 1 << iota
	// leaving means that the unit is being removed. The stop hook, not the planner, removes its members; until then they
	// vote, and must understand the others.
	leaving
	// stuck means that an upgrade of the packages was interrupted and can't be finished now. They are unpacked, so a
	// stopped server may start, as it does at the next boot. No new member is made, and none is restarted.
	stuck

	staying = working | stuck
	every   = staying | leaving
)

func (s State) mode() mode {
	switch {
	case s.Dying:
		return leaving
	case s.Packages.Interrupted() && s.Packages.Unavailable:
		return stuck
	}
	return working
}

// subject groups rules of which only the first whose condition holds is applied.
type subject string

// The subjects. Each database has its own server, old database and schema.
const (
	server      subject = "server"
	old         subject = "database from before the application"
	schema      subject = "schema"
	certificate subject = "certificate"
	northd      subject = "northd"
)

// rule is one line of the table: if its condition holds, it makes a step unless an earlier rule does, and adds a
// finding.
type rule struct {
	name string
	// in are the modes in which the rule applies; 0 means working.
	in mode
	// each applies the rule to each database. It is implied by a subject that each database has.
	each bool
	// of is the rule's subject. With more, later rules of the subject still apply.
	of   subject
	more bool
	// outranks declares that the rule deliberately precedes the next rule of its subject, which can hold at the same
	// time.
	outranks bool
	when     func(*view) bool
	step     func(*view) Step
	find     func(*view) finding.Finding
	list     func(*view) []finding.Finding
	// ends are the modes in which no later rule applies, except those with always.
	ends   mode
	always bool
}

// given adds a common condition to a group of rules, and a subject unless of is empty.
func given(of subject, condition func(*view) bool, group []rule) []rule {
	for i, r := range group {
		group[i].of = cmp.Or(of, r.of)
		group[i].when = func(v *view) bool { return condition(v) && (r.when == nil || r.when(v)) }
	}
	return group
}

func (r *rule) perDatabase() bool { return r.each || r.of == server || r.of == old || r.of == schema }

// view is the input of a rule.
type view struct {
	State
	// db is the database to which the rule is applied, x this unit's state of it.
	db ovndb.Database
	x  Database
	// contested means that the unit continues with its own clusters ([State.ownClusters]); Clusters then holds these.
	contested bool
	// rule is the name of the rule that applies.
	rule string
	// databases holds the view of each database.
	databases []*view
	decision  *Decision
}

// do returns a step with no argument but the rule's database; because returns one whose reason is the rule's name.
func do(kind Kind) func(*view) Step {
	return func(v *view) Step { return Step{Kind: kind, Database: v.db} }
}

func because(kind Kind) func(*view) Step {
	return func(v *view) Step { return Step{Kind: kind, Database: v.db, Reason: v.rule} }
}

// says returns a finding without arguments.
func says(code finding.Code) func(*view) finding.Finding {
	return func(v *view) finding.Finding { return v.find(code, finding.Args{}) }
}

// find returns a finding about this unit's part of the rule's database, or about the unit.
func (v *view) find(code finding.Code, args finding.Args, remedies ...finding.Remedy) finding.Finding {
	if v.db == "" {
		return finding.New(code, finding.Subject{}, args, remedies...)
	}
	return finding.Of(code, v.db, args, remedies...)
}

func (v *view) failed() bool { return finding.Worst(v.decision.Findings) == finding.Error }

func (v *view) cluster() raft.ID { return v.Clusters.IDs[v.db] }

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

// Decide returns the next step. Call it after each step, with a new observation. If it returns no step, the unit is
// in its wanted state, or waits.
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

// walk is one pass through the table.
type walk struct {
	mode    mode
	decided map[decidedBy]bool
	// ended is the rule that ended the walk.
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
