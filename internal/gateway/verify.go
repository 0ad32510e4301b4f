package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// stableFor is how long gateways must stay bound as expected. They bounce while the chassis of a growing group do not
// hear each other yet.
const stableFor = 3 * time.Second

// UnprovedError reports that gateways are not bound as expected, or that chassis that took gateways do not respond.
type UnprovedError struct {
	Findings []finding.Finding
	Wait     time.Duration
	// Undo is the command that reverts the plan; it may be empty.
	Undo string
}

// Error returns the number of ports, which the caller names, or the names of the chassis.
func (e *UnprovedError) Error() string {
	if !finding.Has(e.Findings, finding.NewHostSilent) {
		return finding.Reason{
			Code: finding.NotBoundAfter, Age: e.Wait, Value: schedule.Count(len(e.Findings), "port"),
		}.String()
	}
	silent := finding.Reason{Code: finding.RestartIt, Value: e.Unwrap().Error()}
	if e.Undo != "" {
		silent.Code, silent.Name = finding.RestartOrUndo, e.Undo
	}
	return silent.String()
}

// Unwrap returns the findings as the reasons of the error.
func (e *UnprovedError) Unwrap() error { return finding.Refuse(e.Findings) }

// Prove verifies changes, and asks the chassis that took gateways for a sign of life: a binding shows which chassis
// claims a gateway, but ovn-controller follows nb_cfg only once the flows are set (ovn-sb(5), Chassis_Private). It
// returns an [*UnprovedError] if either fails.
func (s *Service) Prove(ctx context.Context, changed []schedule.Change, wait time.Duration) error {
	missing, err := s.verify(ctx, changed, wait)
	switch {
	case err != nil:
		return fmt.Errorf("cannot see where gateways are bound: %w", err)
	case len(missing) > 0:
		return &UnprovedError{Findings: missing, Wait: wait}
	}
	taken := slices.DeleteFunc(slices.Clone(changed), func(c schedule.Change) bool { return c.From() == c.To() })
	if len(taken) == 0 {
		return nil
	}
	inventory, err := (*Inventory)(nil), s.syncWithin(ctx, wait)
	if err == nil {
		inventory, err = s.Observe(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot tell whether the chassis that took gateways respond: %w", err)
	}
	if silent := s.unresponsiveHosts(taken, inventory.SB); len(silent) > 0 {
		return &UnprovedError{Findings: silent}
	}
	return nil
}

// unresponsiveHosts finds the chassis that do not respond although gateways of the changes are bound to them.
func (s *Service) unresponsiveHosts(changed []schedule.Change, sb ovsdb.Southbound) (all []finding.Finding) {
	hosts := map[string]bool{}
	for _, c := range changed {
		for _, p := range c.Ports {
			if on, _ := sb.Host(p.Name); s.unresponsive[on] {
				hosts[on] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		all = append(all, finding.About(finding.NewHostSilent, name, finding.Args{}))
	}
	return all
}

// verify waits until every port of the changes has been bound as expected for [stableFor]. After the timeout it returns
// the ports that are not bound so, except those that another client has changed since.
func (s *Service) verify(
	ctx context.Context, changed []schedule.Change, wait time.Duration,
) ([]finding.Finding, error) {
	missing, err := s.awaitStable(ctx, wait, func() ([]finding.Finding, error) {
		sb, err := Ask(ctx, s, (*ovsdb.Gateways).Southbound)
		return s.misplaced(changed, sb), err
	})
	if err != nil || len(missing) == 0 || finding.Has(missing, finding.BindingsUnsettled) {
		return missing, err
	}
	inventory, err := s.Observe(ctx)
	if err != nil {
		return nil, err
	}
	return s.misplaced(inventory.stillApplied(changed), inventory.SB), nil
}

// awaitStable waits until look has found nothing for [stableFor]. After the timeout it returns what look found last. An
// error of look, as from a lost server, only delays it.
func (s *Service) awaitStable(
	ctx context.Context, wait time.Duration, look func() ([]finding.Finding, error),
) ([]finding.Finding, error) {
	patience, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var since time.Time
	progress := waited{begun: s.Now()}
	for {
		missing, err := look()
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
		if poll.Wait(patience, pollInterval) == nil {
			continue
		}
		if errors.Is(ctx.Err(), context.Canceled) { // the wait did not last until its end
			return nil, ctx.Err()
		}
		if err == nil && len(missing) == 0 {
			missing = []finding.Finding{finding.About(finding.BindingsUnsettled, "", finding.Args{Duration: stableFor})}
		}
		return missing, err
	}
}

// waited is the last reported state of the wait for the data plane.
type waited struct {
	begun, said time.Time
	left        int
}

const (
	// A wait is reported once it is longer than quietWait, and again if the number of missing ports has changed, or after
	// repeatWait.
	quietWait  = 2 * time.Second
	repeatWait = 15 * time.Second
)

// next returns the line to report now; it may be empty.
func (w *waited) next(missing []finding.Finding, err error, now time.Time) string {
	took := now.Sub(w.begun)
	changed := len(missing) != w.left && now.Sub(w.said) >= quietWait
	if took < quietWait || !changed && now.Sub(w.said) < repeatWait {
		return ""
	}
	w.said, w.left = now, len(missing)
	took = took.Round(time.Second)
	switch {
	case err != nil:
		return fmt.Sprintf("after %s: cannot see where gateways are bound: %v", took, err)
	case len(missing) == 0:
		return fmt.Sprintf("after %s: all ports are bound as expected; checking for %s that they stay bound", took, stableFor)
	}
	return fmt.Sprintf("after %s: %s not bound as expected yet (%s)", took, schedule.Count(len(missing), "port"),
		missing[0].Line())
}

// stillApplied returns the changes of groups that no other client has changed or deleted since.
func (inv *Inventory) stillApplied(changed []schedule.Change) (all []schedule.Change) {
	sorted := func(candidates []schedule.Candidate) []schedule.Candidate {
		byName := func(a, b schedule.Candidate) int { return cmp.Compare(a.Chassis, b.Chassis) }
		return slices.SortedFunc(slices.Values(candidates), byName)
	}
	for _, change := range changed {
		now, found := inv.stored[change.Group]
		if found && slices.Equal(sorted(planned(now.Before)), sorted(change.After)) {
			all = append(all, change)
		}
	}
	return all
}

// misplaced finds the ports that are not where their candidates say. Only the last change of a group counts. If the
// ovn-controller of the first candidate does not respond, the next one may host the group too.
func (s *Service) misplaced(changed []schedule.Change, sb ovsdb.Southbound) (missing []finding.Finding) {
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
			hosts, expected := s.hosts(c)
			switch {
			case p.Disabled:
			case !known:
				missing = append(missing, finding.About(finding.BindingMissing, p.Name, finding.Args{}))
			case slices.Contains(hosts, where):
			case where == "" && !s.unresponsive[c.To()]:
				missing = append(missing, schedule.Unbound(p.Name, c.To()))
			case where == "":
				missing = append(missing, finding.About(finding.GatewayUnbound, p.Name, finding.Args{Value: expected}))
			default:
				missing = append(missing, finding.About(finding.GatewayMisplaced, p.Name,
					finding.Args{Value: expected, Other: where}))
			}
		}
	}
	return missing
}

// hosts returns the candidates that may host the group, up to the first that responds, and the expected host: the
// candidate that responds or, if none does, the first.
func (s *Service) hosts(c schedule.Change) (names []string, expected string) {
	for _, candidate := range c.After {
		names = append(names, candidate.Chassis)
		if !s.unresponsive[candidate.Chassis] {
			return names, candidate.Chassis
		}
	}
	return names, c.To()
}
