package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// DefaultNorthdTimeout is what a command gives ovn-northd after each batch of changes.
const DefaultNorthdTimeout = 2 * time.Minute

// Service shows and changes where gateways are. It keeps its connections until it is
// closed, and may do one thing at a time.
type Service struct {
	Dialer *ovsdb.Dialer
	// NB and SB are endpoints of the databases.
	NB, SB []string
	// Elsewhere is what to do where the databases are others than those, for a person; empty where
	// there is nothing to do.
	Elsewhere string
	// By is the person or unit that asks, for the journal.
	By string
	// Undo is the command that takes a plan back.
	Undo func(plan string) string
	// Progress tells a person how far it is.
	Progress func(ctx context.Context, line string)
	// Now is the time.
	Now func() time.Time
	// NorthdTimeout bounds the wait for ovn-northd between batches, but where it has been known to
	// be slow; 0 doesn't wait.
	NorthdTimeout time.Duration

	// Key and Value are what must stand in external_ids of NB_Global for anything to be
	// written; an empty key asks for nothing.
	Key, Value string

	g *ovsdb.Gateways
	// unresponsive are the chassis whose ovn-controllers were when it was last looked.
	unresponsive map[string]bool
	// slowest is the longest that ovn-northd took.
	slowest time.Duration
	pace    pace
	// run is the operation that is on its way; nil if what is changed is an operation by itself.
	run *journal.Run
}

// Close ends the connections.
func (s *Service) Close() {
	if s.g != nil {
		s.g.Close()
		s.g = nil
	}
}

// With does something with the connections. They are given up where it fails, and made
// again when they are next needed.
func (s *Service) With(ctx context.Context, question func(*ovsdb.Gateways) error) (err error) {
	if s.g == nil {
		if s.g, err = s.Dialer.Gateways(ctx, s.NB, s.SB); err != nil {
			if s.Elsewhere != "" {
				err = fmt.Errorf("%w; %s", err, s.Elsewhere)
			}
			return err
		}
		if s.Key != "" {
			if err = s.g.Fence(ctx, s.Key, s.Value); err != nil {
				s.Close()
				return err
			}
		}
	}
	if err = question(s.g); err != nil && !errors.Is(err, ovsdb.ErrChanged) {
		s.Close()
	}
	return err
}

// Ask is [Service.With] for a question that has an answer.
func Ask[T any](ctx context.Context, s *Service, question func(*ovsdb.Gateways, context.Context) (T, error)) (answer T, err error) {
	err = s.With(ctx, func(g *ovsdb.Gateways) error {
		answer, err = question(g, ctx)
		return err
	})
	return answer, err
}

// grace is how long an ovn-controller may take to follow nb_cfg of SB until it counts as
// unresponsive; one that lives takes some milliseconds.
const grace = 5 * time.Second

// pollInterval is how often it is looked whether something has come about.
const pollInterval = 250 * time.Millisecond

// Observe reads both databases, and once more for a while where some ovn-controller lags.
func (s *Service) Observe(ctx context.Context) (c *Inventory, err error) {
	err = s.With(ctx, func(g *ovsdb.Gateways) error {
		c, err = observe(ctx, g, s.unresponsive)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.unresponsive = map[string]bool{}
	for _, x := range c.State.Chassis {
		s.unresponsive[x.Name] = x.Unresponsive
	}
	return c, nil
}

// ReadInventory reads both databases once.
func ReadInventory(ctx context.Context, g *ovsdb.Gateways) (*Inventory, error) {
	nb, err := g.Northbound(ctx)
	if err != nil {
		return nil, err
	}
	sb, err := g.Southbound(ctx)
	if err != nil {
		return nil, err
	}
	return BuildInventory(nb, sb), nil
}

// observe does not wait again for those that were known to lag.
func observe(ctx context.Context, g *ovsdb.Gateways, known map[string]bool) (*Inventory, error) {
	patience, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for {
		c, err := ReadInventory(ctx, g)
		if err != nil {
			return nil, err
		}
		mayHost := c.State.MayHost()
		lags := func(x schedule.Chassis) bool { return x.Unresponsive && mayHost[x.Name] && !known[x.Name] }
		if !slices.ContainsFunc(c.State.Chassis, lags) || poll.Wait(patience, pollInterval) != nil {
			return c, nil
		}
	}
}

// progress tells a person how far it is.
func (s *Service) progress(ctx context.Context, line string) {
	if s.Progress != nil {
		s.Progress(ctx, line)
	}
}
