package placement

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// How much of the journal is kept: everybody who follows NB has a copy of it. The newest
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
	// Added are the chassis that it was to give their share.
	Added []string `json:"added,omitempty" yaml:"added,omitempty"`
	// Changes are the candidates before the run and after it, by group.
	Changes []gateway.Taken `json:"changes,omitempty" yaml:"changes,omitempty"`
}

// page is what is noted of one batch, in its transaction.
type page struct {
	ID        string          `json:"id"`
	Number    int             `json:"number"`
	At        time.Time       `json:"at"`
	Operation string          `json:"operation"`
	By        string          `json:"by"`
	Left      int             `json:"left"`
	Added     []string        `json:"added,omitempty"`
	Changes   []gateway.Taken `json:"changes"`

	uuid string
}

// newPage begins what is noted of a run.
func newPage(by string) (page, error) {
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return page{}, fmt.Errorf("cannot name a plan: %w", err)
	}
	return page{ID: "g" + hex.EncodeToString(id[:]), By: by, At: time.Now().UTC()}, nil
}

// next is the page of another batch of a plan, of which so many groups are left then.
func (p *page) next(plan gateway.Plan, some []gateway.Change, left int) string {
	p.Number++
	p.Operation, p.Added, p.Left, p.Changes = plan.Operation, plan.Added, left, nil
	for _, c := range some {
		p.Changes = append(p.Changes, gateway.Taken{Group: c.Group, Storage: c.Storage, Before: c.Before, After: c.After})
	}
	return p.text()
}

func (p *page) text() string {
	text, _ := json.Marshal(p) // texts, numbers and times only
	return string(text)
}

// pages reads what was noted; what can't be read is told of.
func pages(notes []ovsdb.Note) (all []page, problems []gateway.Problem) {
	for _, n := range notes {
		var p page
		if err := json.Unmarshal([]byte(n.Text), &p); err != nil || p.ID == "" {
			problems = append(problems, gateway.Problem{Where: n.UUID, Text: "this row of DNS in NB is of the journal, and can't be read"})
			continue
		}
		p.uuid = n.UUID
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b page) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Number, b.Number))
	})
	return all, problems
}

// runs are the pages of each run, the newest run first.
func runs(all []page) (each [][]page) {
	for i, p := range all {
		if i == 0 || all[i-1].ID != p.ID {
			each = append(each, nil)
		}
		each[len(each)-1] = append(each[len(each)-1], p)
	}
	return each
}

// entry is of one run's pages. A group that somebody else changed meanwhile may stand on
// several: what there was at first and in the end counts.
func entry(some []page) Entry {
	last := some[len(some)-1]
	e := Entry{ID: last.ID, At: last.At, Operation: last.Operation, By: last.By, Left: last.Left}
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

func (s *Service) notes(ctx context.Context) (notes []ovsdb.Note, err error) {
	err = s.ask(ctx, func(g *ovsdb.Gateways) error {
		notes, err = g.Notes(ctx)
		return err
	})
	return notes, err
}

// tidy notes that runs are finished, and drops what is too old to be kept.
func (s *Service) tidy(ctx context.Context, finished ...string) error {
	notes, err := s.notes(ctx)
	if err != nil {
		return err
	}
	all, _ := pages(notes)
	var changed, dropped []ovsdb.Note
	gateways := 0
	for n, run := range runs(all) {
		for _, p := range run {
			gateways += len(p.Changes)
		}
		if n >= keptPlans || n > 0 && gateways > keptGateways {
			for _, p := range run {
				dropped = append(dropped, ovsdb.Note{UUID: p.uuid})
			}
			continue
		}
		if last := run[len(run)-1]; last.Left > 0 && slices.Contains(finished, last.ID) {
			last.Left = 0
			changed = append(changed, ovsdb.Note{UUID: last.uuid, Text: last.text()})
		}
	}
	return s.ask(ctx, func(g *ovsdb.Gateways) error { return g.Amend(ctx, changed, dropped) })
}
