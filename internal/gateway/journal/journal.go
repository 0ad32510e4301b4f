// Package journal records which operation changed which candidates of gateways, and the resulting layout. Revert,
// undrain and a target revision bring these back. The package is pure: it reads the texts that the Northbound database
// keeps, and returns the texts to write.
package journal

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Entry describes the changes of one operation.
type Entry struct {
	// ID names the operation. It starts with a letter, so that YAML does not take it for a number.
	ID        string    `json:"id" yaml:"id"`
	At        time.Time `json:"at" yaml:"at"`
	Operation string    `json:"operation" yaml:"operation"`
	By        string    `json:"by" yaml:"by"`
	// Gateways is the number of changed groups; Moves is how many of them got another first candidate.
	Gateways int `json:"gateways" yaml:"gateways"`
	Moves    int `json:"moves" yaml:"moves"`
	// Left is how many groups were still to be changed at the last record: the operation was interrupted, or is running.
	Left int `json:"left" yaml:"left"`
	// Chassis is the subject of the operation; it may be empty.
	Chassis string `json:"chassis,omitempty" yaml:"chassis,omitempty"`
	// Added lists the new chassis that get their share.
	Added []string `json:"added,omitempty" yaml:"added,omitempty"`
	// Changes has the candidates before and after the operation, by group.
	Changes []schedule.AppliedChange `json:"changes,omitempty" yaml:"changes,omitempty"`
	// Omitted is the number of changes that are left out.
	Omitted int `json:"omitted,omitempty" yaml:"omitted,omitempty"`

	records []record // the oldest first
	end     *record  // nil unless the operation has passed its checks and ended
}

// record is one row of the journal: a batch of changes, or the end of an operation.
type record struct {
	ID        string                   `json:"id"`
	Number    int                      `json:"number"`
	At        time.Time                `json:"at"`
	Operation string                   `json:"operation"`
	By        string                   `json:"by"`
	Chassis   string                   `json:"chassis,omitempty"`
	Left      int                      `json:"left,omitempty"`
	Added     []string                 `json:"added,omitempty"`
	Changes   []schedule.AppliedChange `json:"changes,omitempty"`
	// Kept marks a record that is needed to undrain the chassis, whatever its age.
	Kept bool `json:"kept,omitempty"`
	// Tag is set on the record that ends an operation.
	*Tag

	row string
}

// Tag describes the layout with which an operation ended.
type Tag struct {
	Outcome Outcome `json:"tag"`
	// Revision is the ID of the layout, Body the ID of its gateways.
	Revision string   `json:"revision"`
	Body     string   `json:"body"`
	Cordons  []string `json:"cordons,omitempty"`
}

// body is a row of its own: the gateways of all layouts that have this ID.
type body struct {
	BodyID string `json:"body-id"`
	Packed string `json:"packed"`
}

// Journal is the content of the journal.
type Journal struct {
	// Entries is sorted, the newest first.
	Entries []Entry
	// Findings names the rows that can't be read.
	Findings []finding.Finding

	bodies map[string]string   // packed, by ID
	rows   map[string][]string // the rows that have each body, by ID
}

// Read reads the texts of rows, by the UUIDs of the rows.
func Read(texts map[string]string) Journal {
	j := Journal{bodies: map[string]string{}, rows: map[string][]string{}}
	all := map[string][]record{}
	for _, row := range slices.Sorted(maps.Keys(texts)) {
		var r struct {
			record
			body
		}
		err := json.Unmarshal([]byte(texts[row]), &r)
		switch {
		case err == nil && r.BodyID != "":
			j.bodies[r.BodyID] = r.Packed
			j.rows[r.BodyID] = append(j.rows[r.BodyID], row)
		case err == nil && r.ID != "":
			// Any client of NB may have written it (R18). A malformed name refers to no gateway or chassis.
			foreign.AllNames(&r.record)
			r.row = row
			all[r.ID] = append(all[r.ID], r.record)
		default:
			j.Findings = append(j.Findings, finding.About(finding.JournalUnread, row, finding.Args{}))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		slices.SortStableFunc(all[id], func(a, b record) int { return a.Number - b.Number })
		j.Entries = append(j.Entries, newEntry(all[id]))
	}
	slices.SortStableFunc(j.Entries, func(a, b Entry) int { return b.At.Compare(a.At) })
	return j
}

// newEntry makes an entry from an operation's records, the oldest first. If a group changed several times, the entry
// has the candidates before the first change and after the last.
func newEntry(records []record) Entry {
	first := records[0]
	e := Entry{ID: first.ID, At: first.At, By: first.By, records: records}
	at := map[string]int{}
	for i, r := range records {
		e.Operation, e.Chassis = r.Operation, r.Chassis
		e.Added = append(e.Added, r.Added...)
		if r.Tag != nil {
			e.end = &records[i]
		} else {
			e.Left = r.Left
		}
		for _, c := range r.Changes {
			if i, again := at[c.Group]; again {
				e.Changes[i].After = c.After
				continue
			}
			at[c.Group] = len(e.Changes)
			e.Changes = append(e.Changes, c)
		}
	}
	e.Gateways = len(e.Changes)
	for _, c := range e.Changes {
		if c.Interrupted() {
			e.Moves++
		}
	}
	slices.Sort(e.Added)
	e.Added = slices.Compact(e.Added)
	return e
}

// Plans returns the entries that have changed gateways.
func (j Journal) Plans() []Entry {
	return slices.DeleteFunc(slices.Clone(j.Entries), func(e Entry) bool { return e.Gateways == 0 })
}

// ChangedSince returns the operation after another one that has made a group's candidates what they are. It finds none
// if another client has changed them since.
func (j Journal) ChangedSince(id string, now schedule.Group) (Entry, bool) {
	of := func(c schedule.AppliedChange) bool { return c.Group == now.Name }
	for _, e := range j.Entries {
		if e.ID == id {
			break
		}
		if i := slices.IndexFunc(e.Changes, of); i >= 0 {
			return e, slices.Equal(schedule.Ranked(e.Changes[i].After), now.Ranked())
		}
	}
	return Entry{}, false
}

// Interrupted returns the finding about an unfinished entry.
func (e Entry) Interrupted() finding.Finding {
	args := finding.Args{
		Value: e.Operation, Count: e.Left, Reasons: []finding.Reason{{Code: finding.PlannedBy, Name: e.By}},
	}
	return finding.About(finding.PlanUnfinished, e.ID, args)
}

// Unfinished returns the unfinished entries, without their changes.
func (j Journal) Unfinished() (all []Entry) {
	for _, e := range j.Entries {
		if e.Left > 0 {
			e.Changes = nil
			all = append(all, e)
		}
	}
	return all
}

// Changes returns the recorded changes, by the UUID of the row.
func (j Journal) Changes() map[string][]schedule.AppliedChange {
	all := map[string][]schedule.AppliedChange{}
	for _, r := range j.newestFirst() {
		all[r.row] = r.Changes
	}
	return all
}

// Has reports whether the journal has the record of an operation with this number.
func (j Journal) Has(id string, number int) bool {
	return slices.ContainsFunc(j.newestFirst(), func(r record) bool { return r.ID == id && r.Number == number })
}

// Drained returns the changes that an undrain has to put back, by chassis. Before has the candidates before the first
// drain of the group. After has the candidates that a drain or an undrain wrote last. It is empty if something else has
// changed the group since, or if another drain began from other candidates.
func (j Journal) Drained() map[string][]schedule.AppliedChange {
	newest, found := map[string]schedule.AppliedChange{}, map[[2]string]bool{}
	drained := map[string][]schedule.AppliedChange{}
	for _, r := range j.newestFirst() {
		for _, c := range r.Changes {
			if _, seen := newest[c.Group]; !seen && r.Chassis == "" { // counts as a change by another client
				newest[c.Group] = schedule.AppliedChange{}
			} else if !seen {
				newest[c.Group] = c
			}
			key := [2]string{r.Chassis, c.Group}
			if !r.Kept || found[key] {
				continue
			}
			found[key] = true
			back := schedule.AppliedChange{Group: c.Group, Storage: c.Storage, Before: base(c)}
			if last := newest[c.Group]; slices.Equal(base(last), back.Before) {
				back.After = last.After
			}
			drained[r.Chassis] = append(drained[r.Chassis], back)
		}
	}
	return drained
}

func (j Journal) newestFirst() (all []record) {
	for _, e := range j.Entries {
		all = append(all, e.records...)
	}
	slices.SortStableFunc(all, func(a, b record) int { return cmp.Or(b.At.Compare(a.At), b.Number-a.Number) })
	return all
}

// base returns the candidates before the first of several drains.
func base(c schedule.AppliedChange) []schedule.Candidate {
	if len(c.Base) > 0 {
		return c.Base
	}
	return c.Before
}

func order(group string, candidates []schedule.Candidate) string {
	return strings.Join(append([]string{group}, schedule.Ranked(candidates)...), "\x00")
}
