package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// stableFor is how long gateways must stay where they should be. They bounce while the chassis of a group that grows do
// not hear each other yet.
const stableFor = 3 * time.Second

// UnresponsiveError names the chassis that have taken gateways and do not respond.
type UnresponsiveError struct {
	Chassis []string
	// Undo is the command that reverts the plan; it may be empty.
	Undo string
}

// Error says what is wrong and what to do.
func (e *UnresponsiveError) Error() string {
	text := fmt.Sprintf("ovn-controller does not respond on %s, to which gateways were moved; they may not work: restart it", strings.Join(e.Chassis, ", "))
	if e.Undo != "" {
		text += "; or to move them back, run: " + e.Undo
	}
	return text
}

// Prove verifies what was changed, and asks the chassis that took gateways for a sign of life. A binding shows which
// chassis claims a gateway, not that its flows are set; ovn-controller follows nb_cfg once they are (ovn-sb(5),
// Chassis_Private). The error is a [*MisplacedError] or an [*UnresponsiveError] if one of these fails.
func (s *Service) Prove(ctx context.Context, changed []schedule.Change, wait time.Duration) error {
	missing, err := s.verify(ctx, changed, wait)
	switch {
	case err != nil:
		return fmt.Errorf("cannot see where gateways are bound: %w", err)
	case len(missing) > 0:
		return &MisplacedError{missing, wait}
	}
	taken := slices.DeleteFunc(slices.Clone(changed), func(c schedule.Change) bool { return c.From() == c.To() })
	if len(taken) == 0 {
		return nil
	}
	inventory, err := (*Inventory)(nil), s.SyncNorthd(ctx)
	if err == nil {
		inventory, err = s.Observe(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot tell whether the chassis that took gateways respond: %w", err)
	}
	if silent := s.unresponsiveHosts(taken, inventory.SB); len(silent) > 0 {
		return &UnresponsiveError{Chassis: silent}
	}
	return nil
}

// unresponsiveHosts are the chassis that do not respond although gateways of the changes are bound to them.
func (s *Service) unresponsiveHosts(changed []schedule.Change, sb ovsdb.Southbound) []string {
	hosts := map[string]bool{}
	for _, c := range changed {
		for _, p := range c.Ports {
			if on, _ := sb.Host(p.Name); s.unresponsive[on] {
				hosts[on] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// verify waits until every port of the changes has been active where it should be for [stableFor]. When the time is
// over, it returns the ports that are not, unless another client has changed them since. A server that is lost
// meanwhile is only a delay.
func (s *Service) verify(ctx context.Context, changed []schedule.Change, wait time.Duration) ([]schedule.Finding, error) {
	patience, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var since time.Time
	progress := waited{begun: s.Now()}
	for {
		sb, err := Ask(ctx, s, (*ovsdb.Gateways).Southbound)
		missing := s.misplaced(changed, sb)
		if line := progress.next(missing, err, s.Now()); line != "" {
			s.progress(ctx, line)
		}
		switch {
		case err != nil || len(missing) > 0:
			since = time.Time{}
		case since.IsZero():
			since = s.Now()
		case s.Now().Sub(since) >= stableFor:
			return nil, nil
		}
		switch {
		case poll.Wait(patience, pollInterval) == nil:
		case err == nil && len(missing) == 0:
			return []schedule.Finding{{Where: "all", Text: fmt.Sprintf("bound as expected, but not yet for %s", stableFor)}}, nil
		case err == nil:
			inventory, err := s.Observe(ctx)
			if err != nil {
				return nil, err
			}
			return s.misplaced(inventory.stillApplied(changed), inventory.SB), nil
		default:
			return nil, err
		}
	}
}

// waited is how far the wait for the data plane is, as a person was told last.
type waited struct {
	begun, said time.Time
	left        int
}

// A person hears of a wait once it is longer than this, and again if what is left has changed, or after a while.
const (
	quietWait  = 2 * time.Second
	repeatWait = 15 * time.Second
)

// next is what to tell a person now; empty is nothing.
func (w *waited) next(missing []schedule.Finding, err error, now time.Time) string {
	took := now.Sub(w.begun)
	changed := len(missing) != w.left && now.Sub(w.said) >= quietWait
	if took < quietWait || !changed && now.Sub(w.said) < repeatWait {
		return ""
	}
	w.said, w.left = now, len(missing)
	took = took.Round(time.Second)
	switch {
	case err != nil:
		return fmt.Sprintf("waiting for %s; cannot see where gateways are bound: %v", took, err)
	case len(missing) == 0:
		return fmt.Sprintf("waiting for %s: every port is bound as expected; checking that it stays so", took)
	}
	ports, first := schedule.Count(len(missing), "port"), missing[0]
	return fmt.Sprintf("waiting for %s: %s not bound as expected yet (%s: %s)", took, ports, first.Where, first.Text)
}

// stillApplied are the changes that no other client has changed or deleted since.
func (inv *Inventory) stillApplied(changed []schedule.Change) (all []schedule.Change) {
	now := map[string][]ovsdb.CandidateRow{}
	for name, s := range inv.stored {
		now[name] = s.rows
	}
	same := func(a, b schedule.Candidate) int { return cmp.Compare(a.Chassis, b.Chassis) }
	for _, change := range changed {
		rows, found := now[change.Group]
		if found && slices.Equal(slices.SortedFunc(slices.Values(planned(rows)), same), slices.SortedFunc(slices.Values(change.After), same)) {
			all = append(all, change)
		}
	}
	return all
}

// misplaced are the ports that are not where their candidates say. The last change of a group counts. If the
// ovn-controller of the first candidate does not respond, the next one may host the group too.
func (s *Service) misplaced(changed []schedule.Change, sb ovsdb.Southbound) (missing []schedule.Finding) {
	last := map[string]int{}
	for i, c := range changed {
		last[c.Group] = i
	}
	for i, c := range changed {
		if last[c.Group] != i {
			continue
		}
		for _, p := range c.Ports {
			where, known := sb.Host(p.Name)
			switch {
			case p.Disabled:
			case !known:
				missing = append(missing, schedule.Finding{Where: p.Name, Text: "no Port_Binding in SB; ovn-northd has not created it"})
			case s.mayHost(c, where):
			case where == "":
				missing = append(missing, schedule.Finding{Where: p.Name, Text: s.unbound(c.To())})
			default:
				missing = append(missing, schedule.Finding{Where: p.Name, Text: fmt.Sprintf("bound to %s; expected %s", where, c.To())})
			}
		}
	}
	return missing
}

func (s *Service) unbound(best string) string {
	if s.unresponsive[best] {
		return "not bound to any chassis; expected " + best
	}
	return schedule.Unbound(best)
}

func (s *Service) mayHost(c schedule.Change, where string) bool {
	for _, candidate := range c.After {
		if candidate.Chassis == where {
			return true
		}
		if !s.unresponsive[candidate.Chassis] {
			return false
		}
	}
	return false
}
