package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// ReadJournal reads the journal.
func ReadJournal(ctx context.Context, g *ovsdb.Gateways) (journal.Journal, error) {
	texts, err := g.Journal(ctx)
	return journal.Read(texts), err
}

func (s *Service) journal(ctx context.Context) (journal.Journal, error) {
	texts, err := Ask(ctx, s, (*ovsdb.Gateways).Journal)
	return journal.Read(texts), err
}

func (s *Service) newRun(operation, chassis string) *journal.Run {
	var id [4]byte
	_, _ = rand.Read(id[:]) // it never fails
	return journal.Begin("g"+hex.EncodeToString(id[:]), operation, chassis, s.By)
}

func (s *Service) note(ctx context.Context, w journal.Writing) error {
	_, err := s.Write(ctx, ovsdb.Change{Notes: ovsdb.Notes(w)})
	return err
}

// Finish records that operations have nothing left to do, and drops records that are too old to keep.
func (s *Service) Finish(ctx context.Context, ids ...string) error {
	j, err := s.journal(ctx)
	if err != nil {
		return err
	}
	return s.note(ctx, j.Finish(ids...))
}

func (s *Service) unfinished(ctx context.Context, operations ...string) ([]journal.Entry, error) {
	j, err := s.journal(ctx)
	others := func(e journal.Entry) bool { return !slices.Contains(operations, e.Operation) }
	return slices.DeleteFunc(j.Unfinished(), others), err
}

const (
	// These bound the tagging of a revision, which reads both databases. interruptedTimeout applies after an interrupted
	// operation.
	tagTimeout         = time.Minute
	interruptedTimeout = 10 * time.Second
)

// Operate calls do as one operation: its changes become one entry of the journal, tagged with the resulting layout. do
// reports whether it succeeded.
func (s *Service) Operate(ctx context.Context, operation, chassis string, do func() bool) {
	s.run = s.newRun(operation, chassis)
	defer func() { s.run = nil }()
	outcome := journal.Failed
	if do() {
		outcome = journal.Succeeded
	}
	timeout := tagTimeout
	if ctx.Err() != nil {
		timeout = interruptedTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if err := s.tag(ctx, outcome); err != nil { // the operation has not failed
		s.progress(ctx, fmt.Sprintf("cannot tag the revision: %v", err))
	}
}

func (s *Service) tag(ctx context.Context, outcome journal.Outcome) error {
	return s.With(ctx, func(g *ovsdb.Gateways) error {
		inventory, err := ReadInventory(ctx, g)
		if err != nil {
			return err
		}
		j, err := ReadJournal(ctx, g)
		if err != nil {
			return err
		}
		return s.note(ctx, j.End(s.run, outcome, inventory.Layout(), s.Now()))
	})
}

// Tagging returns what to write together with a change that is an operation of its own and results in a layout.
func (s *Service) Tagging(ctx context.Context, operation, chassis string, l journal.Layout) (journal.Writing, error) {
	j, err := s.journal(ctx)
	return j.End(s.newRun(operation, chassis), journal.Succeeded, l, s.Now()), err
}

// Layout returns the present layout.
func (inv *Inventory) Layout() journal.Layout { return journal.Of(inv.State, cordon.Names(inv.NB.IDs)) }

// History lists the past operations on gateways, the newest first.
type History struct {
	Plans           []journal.Entry   `json:"plans" yaml:"plans"`
	Findings        []finding.Finding `json:"-" yaml:"-"`
	OmittedFindings int               `json:"omitted-problems,omitempty" yaml:"omitted-problems,omitempty"`
}

// History returns the plans of the journal without their changes, or one of them with its changes.
func (s *Service) History(ctx context.Context, id string) (History, error) {
	j, err := s.journal(ctx)
	if err != nil {
		return History{}, err
	}
	h := History{Plans: []journal.Entry{}, Findings: j.Findings}
	var known []string
	for _, e := range j.Plans() {
		if id == e.ID {
			h.Plans = []journal.Entry{e}
			return h, nil
		}
		known = append(known, e.ID)
		e.Changes = nil
		h.Plans = append(h.Plans, e)
	}
	switch {
	case id != "" && len(known) == 0:
		return History{}, answer.Refuse(answer.NotFound,
			finding.Reason{Code: finding.JournalEmpty, Name: strconv.Quote(id)})
	case id != "":
		return History{}, answer.Refuse(answer.NotFound,
			finding.Reason{Code: finding.NotInJournal, Name: strconv.Quote(id), Value: strings.Join(known, ", ")})
	}
	return h, nil
}

// Shortened returns the history with at most that many findings and changes of a plan, and counts the omitted ones.
func (h History) Shortened(most int) History {
	h.Plans = slices.Clone(h.Plans)
	schedule.Cut(&h.Findings, &h.OmittedFindings, most)
	for i := range h.Plans {
		schedule.Cut(&h.Plans[i].Changes, &h.Plans[i].Omitted, most)
	}
	return h
}
