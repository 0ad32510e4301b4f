package journal

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

const (
	// These bound what is kept, since each client that monitors NB has a copy. The newest plan is kept whatever its size.
	// A gateway takes about 500 bytes of a plan; the body of a layout of 10,000 gateways with 5 candidates on 200 chassis
	// takes 500 kB.
	keptEntries  = 20 // plans, and as many operations that changed no gateway
	keptGateways = 10000
	keptBodies   = 3
)

// Writing is the texts of new and changed rows to write, and the rows to delete, by UUID.
type Writing struct {
	Added   []string
	Changed map[string]string
	Dropped []string
}

// Run makes the records of one operation.
type Run struct {
	record
	// bases has the candidates before the first of several drains, by the group and the order that the drains have
	// written.
	bases map[string][]schedule.Candidate
}

// Begin returns the run of an operation; chassis may be empty.
func Begin(id, operation, chassis, by string) *Run {
	r := record{ID: id, Operation: operation, Chassis: chassis, By: by}
	return &Run{record: r, bases: map[string][]schedule.Candidate{}}
}

// Continue makes the run keep the base of unfinished drains ([Journal.Drained]).
func (r *Run) Continue(drained map[string][]schedule.AppliedChange) {
	for _, all := range drained {
		for _, c := range all {
			if len(c.After) > 0 {
				r.bases[order(c.Group, c.After)] = c.Before
			}
		}
	}
}

// Batch returns the record of some changes of a plan. After these changes, left groups remain to be changed.
func (r *Run) Batch(plan schedule.Plan, some []schedule.Change, left int, now time.Time) string {
	next := r.next(now)
	next.Operation, next.Chassis, next.Added, next.Left = plan.Operation, plan.Chassis, plan.Added, left
	next.Kept = plan.Operation == schedule.OperationDrain
	for _, c := range some {
		change := schedule.AppliedChange{Group: c.Group, Storage: c.Storage, Before: c.Before, After: c.After}
		if plan.Chassis != "" {
			change.Base = r.bases[order(c.Group, c.Before)]
			r.bases[order(c.Group, c.After)] = base(change)
		}
		next.Changes = append(next.Changes, change)
	}
	return text(next)
}

func (r *Run) next(now time.Time) record {
	r.Number++
	next := r.record
	next.At = now.UTC()
	return next
}

func text(row any) string {
	b, _ := json.Marshal(row) // texts, numbers and times only
	return string(b)
}

// Finish records that operations have nothing left to do, and drops records that are too old to keep.
func (j Journal) Finish(ids ...string) Writing {
	w := Writing{Changed: map[string]string{}, Dropped: j.unneeded()}
	for _, e := range j.Entries {
		if e.Left == 0 || !slices.Contains(ids, e.ID) {
			continue
		}
		for _, r := range e.records {
			if r.Left == e.Left && !slices.Contains(w.Dropped, r.row) {
				r.Left = 0
				w.Changed[r.row] = text(r)
			}
		}
	}
	return w
}

// Forget discards what the drains of a chassis have kept for its undrain.
func (j Journal) Forget(chassis string) Writing {
	w := Writing{Changed: map[string]string{}}
	for _, r := range j.newestFirst() {
		if r.Kept && r.Chassis == chassis {
			r.Kept, r.Left = false, 0
			w.Changed[r.row] = text(r)
		}
	}
	return w
}

// End tags the layout with which the operation of a run ended. It writes nothing if this operation and the last one
// succeeded with the same layout (R17).
func (j Journal) End(r *Run, outcome Outcome, l Layout, now time.Time) (w Writing) {
	tag := Tag{Outcome: outcome, Revision: l.id(), Body: l.bodyID(), Cordons: l.Cordons}
	last := j.named(Last)
	if last != nil {
		if e := last.end; outcome == Succeeded && e.Outcome == Succeeded && e.Revision == tag.Revision {
			return w
		}
		if !now.After(last.end.At) { // another unit's clock is ahead
			now = last.end.At.Add(time.Millisecond)
		}
	}
	end := r.next(now)
	end.Tag = &tag
	w.Added = append(w.Added, text(end))
	after := j.with(end)
	if _, there := j.bodies[tag.Body]; !there {
		after.bodies[tag.Body] = l.pack()
		w.Added = append(w.Added, text(body{tag.Body, after.bodies[tag.Body]}))
	}
	w.Dropped = after.unneeded()
	return w
}

func (j Journal) with(r record) Journal {
	j.bodies, j.Entries = maps.Clone(j.bodies), slices.Clone(j.Entries)
	at := slices.IndexFunc(j.Entries, func(e Entry) bool { return e.ID == r.ID })
	if at < 0 {
		j.Entries = slices.Insert(j.Entries, 0, newEntry([]record{r}))
	} else {
		j.Entries[at] = newEntry(append(slices.Clone(j.Entries[at].records), r))
	}
	return j
}

func (j Journal) unneeded() (rows []string) {
	named, bodies := map[string]bool{}, map[string]bool{}
	for _, v := range []Version{Last, Successful} {
		if e := j.named(v); e != nil {
			named[e.ID], bodies[e.end.Body] = true, true
		}
	}
	for _, e := range j.tagged() {
		if len(bodies) < keptBodies {
			bodies[e.end.Body] = true
		}
	}
	rows = j.unneededRecords(named)
	for _, id := range slices.Sorted(maps.Keys(j.rows)) {
		if !bodies[id] {
			rows = append(rows, j.rows[id]...)
		}
	}
	return rows
}

// unneededRecords returns the rows of old records, except the tags of the named entries.
func (j Journal) unneededRecords(named map[string]bool) (rows []string) {
	plans, others, gateways := 0, 0, 0
	for _, e := range j.Entries {
		kept := slices.ContainsFunc(e.records, func(r record) bool { return r.Kept })
		if e.Gateways == 0 {
			others++
			kept = kept || others <= keptEntries
		} else {
			plans++
			gateways += e.Gateways
			kept = kept || plans <= keptEntries && (plans == 1 || gateways <= keptGateways)
		}
		for _, r := range e.records {
			if tags := r.Tag != nil && named[e.ID]; !kept && !tags && r.row != "" {
				rows = append(rows, r.row)
			}
		}
	}
	return rows
}
