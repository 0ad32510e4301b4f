package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// DefaultNorthdTimeout is how long a command waits for ovn-northd after each batch of changes.
const DefaultNorthdTimeout = 2 * time.Minute

// Service shows and changes where gateways are hosted. It keeps its connections until it is closed. It is not safe for
// concurrent use.
type Service struct {
	Dialer *ovsdb.Dialer
	// NB and SB are the endpoints of the databases.
	NB, SB []string
	// Elsewhere is a hint for databases at other endpoints; it may be empty.
	Elsewhere string
	// By is the person or unit that makes the request, for the journal.
	By string
	// Undo returns the command that reverts a plan.
	Undo func(plan string) string
	// Show returns the command that shows a plan of the history. It is nil if there is no such command.
	Show func(plan string) string
	// DryRun returns the command that shows the plan of an operation. It is nil if there is no such command.
	DryRun func(operation string) string
	// OnNode formats an operation on a node. It is nil if there is no such command.
	OnNode func(c command.Command) string
	// Progress reports a line of progress; it may be nil.
	Progress func(ctx context.Context, line string)
	// Now returns the time.
	Now func() time.Time
	// NorthdTimeout bounds the wait for ovn-northd between batches, unless it has been slower before. 0 disables the wait.
	NorthdTimeout time.Duration

	// Key and Value are a pair of external_ids of NB_Global that every write requires. An empty key requires nothing.
	Key, Value string

	g *ovsdb.Gateways
	// unresponsive has the chassis whose ovn-controllers did not respond when the databases were last read.
	unresponsive map[string]bool
	slowest      time.Duration
	pace         pace
	// run is the current operation; nil outside of [Service.Operate].
	run *journal.Run
}

// Close closes the connections.
func (s *Service) Close() {
	if s.g != nil {
		s.g.Close()
		s.g = nil
	}
}

// With calls question with the connections. If question fails, With closes them; the next call makes new ones.
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

// Ask is [Service.With] for a function that returns an answer.
func Ask[T any](
	ctx context.Context, s *Service, question func(*ovsdb.Gateways, context.Context) (T, error),
) (answer T, err error) {
	err = s.With(ctx, func(g *ovsdb.Gateways) error {
		answer, err = question(g, ctx)
		return err
	})
	return answer, err
}

// Write makes a change of NB. If it asks ovn-northd, Write returns the requested nb_cfg.
func (s *Service) Write(ctx context.Context, c ovsdb.Change) (asked int64, err error) {
	return Ask(ctx, s, func(g *ovsdb.Gateways, ctx context.Context) (int64, error) { return g.Write(ctx, c) })
}

// grace is how long an ovn-controller may take to follow nb_cfg before it counts as unresponsive. A live one takes
// milliseconds.
const grace = 5 * time.Second

// pollInterval is the pause between two reads of the databases.
const pollInterval = 250 * time.Millisecond

// Observe reads both databases. While an ovn-controller lags, it reads them again until [grace] is over, unless this
// ovn-controller already lagged at the last call.
func (s *Service) Observe(ctx context.Context) (c *Inventory, err error) {
	if err = s.With(ctx, func(g *ovsdb.Gateways) error {
		c, err = observe(ctx, g, s.unresponsive)
		return err
	}); err != nil {
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
		if !slices.ContainsFunc(c.State.Chassis, lags) {
			return c, nil
		}
		if poll.Wait(patience, pollInterval) == nil {
			continue
		}
		if errors.Is(ctx.Err(), context.Canceled) { // the ovn-controllers had less time than grace to respond
			return nil, context.Cause(ctx)
		}
		return c, nil
	}
}

func (s *Service) progress(ctx context.Context, line string) {
	if s.Progress != nil {
		s.Progress(ctx, line)
	}
}
