package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// History is what was done to gateways, the newest first.
type History struct {
	Plans    []Entry            `json:"plans" yaml:"plans"`
	Findings []schedule.Finding `json:"problems" yaml:"problems"`
}

// UnknownPlanError says that the journal has no plan of this name.
type UnknownPlanError struct {
	ID    string
	Known []string
}

// Error names the plans that there are.
func (e *UnknownPlanError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("the journal has no plan %q: it is empty", e.ID)
	}
	return fmt.Sprintf("the journal has no plan %q; it has %s", e.ID, strings.Join(e.Known, ", "))
}

// History reads the journal: all of it without the single changes, or one plan with them.
// A plan that is not there is an [*UnknownPlanError].
func (s *Service) History(ctx context.Context, id string) (History, error) {
	all, findings, err := s.journal(ctx)
	if err != nil {
		return History{}, err
	}
	h := History{Plans: []Entry{}, Findings: append([]schedule.Finding{}, findings...)}
	var known []string
	for _, run := range byRun(all) {
		e := newEntry(run)
		if id == e.ID {
			h.Plans = []Entry{e}
			return h, nil
		}
		known = append(known, e.ID)
		e.Changes = nil
		h.Plans = append(h.Plans, e)
	}
	if id != "" {
		return History{}, &UnknownPlanError{id, known}
	}
	return h, nil
}

// ReadUnfinished reads which runs of the journal were not finished, without their changes:
// they run still, or were interrupted.
func ReadUnfinished(ctx context.Context, g *ovsdb.Gateways) ([]Entry, error) {
	rows, err := g.Journal(ctx)
	if err != nil {
		return nil, err
	}
	all, _ := parseJournal(rows)
	var unfinished []Entry
	for _, run := range byRun(all) {
		if e := newEntry(run); e.Left > 0 {
			e.Changes = nil
			unfinished = append(unfinished, e)
		}
	}
	return unfinished, nil
}

// ReadJournal reads what the journal tells of changes, by its rows.
func ReadJournal(ctx context.Context, g *ovsdb.Gateways) (map[string][]schedule.AppliedChange, error) {
	rows, err := g.Journal(ctx)
	if err != nil {
		return nil, err
	}
	all, _ := parseJournal(rows)
	told := map[string][]schedule.AppliedChange{}
	for _, record := range all {
		told[record.uuid] = record.Changes
	}
	return told, nil
}

// End notes in one transaction that these runs have nothing left to do.
func (s *Service) End(ctx context.Context, runs []Entry) error {
	var ids []string
	for _, e := range runs {
		ids = append(ids, e.ID)
	}
	return s.tidy(ctx, ids...)
}

// Shortened is the journal with no more changes of a plan, and no more problems, than so many, and with how many more
// there are.
func (h History) Shortened(most int) History {
	h.Plans, h.Findings = slices.Clone(h.Plans), schedule.Shortened(h.Findings, most)
	for i := range h.Plans {
		e := &h.Plans[i]
		kept := min(most, len(e.Changes))
		e.Changes, e.Omitted = e.Changes[:kept], e.Omitted+len(e.Changes)-kept
	}
	return h
}
