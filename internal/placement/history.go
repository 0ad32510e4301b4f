package placement

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// History is what was done to gateways, the newest first.
type History struct {
	Plans    []Entry           `json:"plans" yaml:"plans"`
	Problems []gateway.Problem `json:"problems" yaml:"problems"`
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
	notes, err := s.notes(ctx)
	if err != nil {
		return History{}, err
	}
	all, problems := pages(notes)
	h := History{Plans: []Entry{}, Problems: append([]gateway.Problem{}, problems...)}
	var known []string
	for _, run := range runs(all) {
		e := entry(run)
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

// Shortened is the journal with no more changes of a plan than so many.
func (h History) Shortened(most int) History {
	h.Plans = slices.Clone(h.Plans)
	for i := range h.Plans {
		h.Plans[i].Changes = h.Plans[i].Changes[:min(most, len(h.Plans[i].Changes))]
	}
	return h
}

// Text shows a journal to a person.
func (h History) Text() string {
	if len(h.Plans) == 0 {
		return "no plan has changed gateways\n" + gateway.Told(h.Problems)
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "plan\twhen\toperation\tgateways\tmoved\tby")
	for _, e := range h.Plans {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s%s\n", e.ID, e.At.UTC().Format(time.RFC3339), e.Operation, e.Gateways, e.Moves, e.By, e.remark())
	}
	_ = table.Flush() // into a builder, which takes all
	for _, e := range h.Plans {
		for _, t := range e.Changes {
			fmt.Fprintf(&b, "  %s: %s -> %s\n", t.Group, listed(t.Before), listed(t.After))
		}
		if omitted := e.Gateways - len(e.Changes); len(e.Changes) > 0 && omitted > 0 {
			fmt.Fprintf(&b, "  … and %d more\n", omitted)
		}
	}
	return b.String() + gateway.Told(h.Problems)
}

// remark tells of a plan that was not carried out wholly.
func (e Entry) remark() string {
	if e.Left == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d gateways left: it was interrupted, or runs now)", e.Left)
}

// listed are candidates, best first, with their priorities.
func listed(candidates []gateway.Candidate) string {
	if len(candidates) == 0 {
		return "nobody"
	}
	all := make([]string, len(candidates))
	for i, c := range candidates {
		all[i] = fmt.Sprintf("%s (%d)", c.Chassis, c.Priority)
	}
	return strings.Join(all, ", ")
}
