package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// How much of the journal is kept: each client that monitors NB has a copy of it. The newest
// plan is kept whatever its size; a gateway takes about 500 bytes.
const (
	keptPlans    = 20
	keptGateways = 10000
)

// Entry is what one run changed of gateways.
type Entry struct {
	// ID is what the run is called by; it starts with a letter, so that YAML makes no
	// number of it.
	ID        string    `json:"id" yaml:"id"`
	At        time.Time `json:"at" yaml:"at"`
	Operation string    `json:"operation" yaml:"operation"`
	By        string    `json:"by" yaml:"by"`
	// Gateways is how many groups were changed, Moves how many of them were interrupted.
	Gateways int `json:"gateways" yaml:"gateways"`
	Moves    int `json:"moves" yaml:"moves"`
	// Left is how many it had still to change when it was last heard of: it was
	// interrupted, or runs now.
	Left int `json:"left" yaml:"left"`
	// Chassis is the one that it drained or undrained.
	Chassis string `json:"chassis,omitempty" yaml:"chassis,omitempty"`
	// Added are the chassis that it was to give their share.
	Added []string `json:"added,omitempty" yaml:"added,omitempty"`
	// Changes are the candidates before the run and after it, by group.
	Changes []schedule.AppliedChange `json:"changes,omitempty" yaml:"changes,omitempty"`
	// Omitted is how many changes are left out because there is no room for them.
	Omitted int `json:"omitted,omitempty" yaml:"omitted,omitempty"`
}

// journalRecord is what is noted of one batch, in its transaction.
type journalRecord struct {
	ID        string                   `json:"id"`
	Number    int                      `json:"number"`
	At        time.Time                `json:"at"`
	Operation string                   `json:"operation"`
	By        string                   `json:"by"`
	Left      int                      `json:"left"`
	Added     []string                 `json:"added,omitempty"`
	Changes   []schedule.AppliedChange `json:"changes"`
	// Chassis is the one that is drained or undrained; Kept says that the record is needed to
	// undrain it, whatever its age.
	Chassis string `json:"chassis,omitempty"`
	Kept    bool   `json:"kept,omitempty"`

	uuid string
}

// newRecord begins what is noted of a run.
func newRecord(by string, now time.Time) journalRecord {
	var id [4]byte
	_, _ = rand.Read(id[:]) // it never fails
	return journalRecord{ID: "g" + hex.EncodeToString(id[:]), By: by, At: now.UTC()}
}

// next is the record of another batch of a plan, of which so many groups are left then.
func (p *journalRecord) next(plan schedule.Plan, some []schedule.Change, left int) string {
	p.Number++
	p.Operation, p.Added, p.Left, p.Changes = plan.Operation, plan.Added, left, nil
	p.Chassis, p.Kept = plan.Chassis, plan.Operation == schedule.OperationDrain
	for _, c := range some {
		p.Changes = append(p.Changes, schedule.AppliedChange{Group: c.Group, Storage: c.Storage, Before: c.Before, After: c.After, Base: c.Base})
	}
	return p.text()
}

func (p *journalRecord) text() string {
	text, _ := json.Marshal(p) // texts, numbers and times only
	return string(text)
}

// parseJournal reads what was noted; what can't be read is told of.
func parseJournal(rows []ovsdb.JournalRow) (all []journalRecord, findings []schedule.Finding) {
	for _, n := range rows {
		var p journalRecord
		if err := json.Unmarshal([]byte(n.Text), &p); err != nil || p.ID == "" {
			findings = append(findings, schedule.Finding{Where: n.UUID, Text: "cannot read this row of the journal (table DNS of NB)"})
			continue
		}
		p.uuid = n.UUID
		all = append(all, p.clean())
	}
	slices.SortFunc(all, func(a, b journalRecord) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Number, b.Number))
	})
	return all, findings
}

// clean is the record as it is shown, and written again: any client of NB may have written it (R18). What is no name is
// that of no gateway and of no chassis.
func (p journalRecord) clean() journalRecord {
	p.ID, p.Operation, p.By, p.Chassis, p.Added = foreign.Name(p.ID), foreign.Name(p.Operation), foreign.Name(p.By), foreign.Name(p.Chassis), foreign.Names(p.Added)
	for i := range p.Changes {
		c := &p.Changes[i]
		c.Group, c.Storage = foreign.Name(c.Group), schedule.Storage(foreign.Name(string(c.Storage)))
		for _, candidates := range [][]schedule.Candidate{c.Before, c.After, c.Base} {
			for k := range candidates {
				candidates[k].Chassis = foreign.Name(candidates[k].Chassis)
			}
		}
	}
	return p
}

// byRun are the records of each run, the newest run first.
func byRun(all []journalRecord) (each [][]journalRecord) {
	for i, p := range all {
		if i == 0 || all[i-1].ID != p.ID {
			each = append(each, nil)
		}
		each[len(each)-1] = append(each[len(each)-1], p)
	}
	return each
}

// newEntry is of one run's records. A group that another client changed meanwhile may stand on
// several: what there was at first and in the end counts.
func newEntry(some []journalRecord) Entry {
	last := some[len(some)-1]
	e := Entry{ID: last.ID, At: last.At, Operation: last.Operation, By: last.By, Left: last.Left, Chassis: last.Chassis}
	at := map[string]int{}
	for _, p := range some {
		e.Added = append(e.Added, p.Added...)
		for _, t := range p.Changes {
			if i, again := at[t.Group]; again {
				e.Changes[i].After = t.After
				continue
			}
			at[t.Group] = len(e.Changes)
			e.Changes = append(e.Changes, t)
		}
	}
	e.Gateways = len(e.Changes)
	for _, t := range e.Changes {
		if t.Interrupted() {
			e.Moves++
		}
	}
	slices.Sort(e.Added)
	e.Added = slices.Compact(e.Added)
	return e
}

// journal is [parseJournal] of what stands in the database.
func (s *Service) journal(ctx context.Context) (all []journalRecord, findings []schedule.Finding, err error) {
	rows, err := Ask(ctx, s, (*ovsdb.Gateways).Journal)
	all, findings = parseJournal(rows)
	return all, findings, err
}

// tidy notes that runs are finished, and drops what is too old to be kept.
func (s *Service) tidy(ctx context.Context, finished ...string) error {
	all, _, err := s.journal(ctx)
	if err != nil {
		return err
	}
	var changed, dropped []ovsdb.JournalRow
	gateways := 0
	for n, run := range byRun(all) {
		for _, p := range run {
			gateways += len(p.Changes)
		}
		kept := slices.ContainsFunc(run, func(p journalRecord) bool { return p.Kept })
		if !kept && (n >= keptPlans || n > 0 && gateways > keptGateways) {
			for _, p := range run {
				dropped = append(dropped, ovsdb.JournalRow{UUID: p.uuid})
			}
			continue
		}
		if last := run[len(run)-1]; last.Left > 0 && slices.Contains(finished, last.ID) {
			last.Left = 0
			changed = append(changed, ovsdb.JournalRow{UUID: last.uuid, Text: last.text()})
		}
	}
	return s.With(ctx, func(g *ovsdb.Gateways) error { return g.AmendJournal(ctx, changed, dropped) })
}
