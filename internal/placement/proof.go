package placement

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// hold is how long gateways must be where they should be. They bounce while the chassis
// of a group that grows first hear one another.
const hold = 3 * time.Second

// Prove waits until every port of what was changed is active where it should be, and stays
// there for a moment. It names those that are not when the time is over, but for those that
// somebody else has changed since. A server that is lost meanwhile is only a delay.
func (s *Service) Prove(ctx context.Context, changed []gateway.Change, wait time.Duration) ([]gateway.Problem, error) {
	patience, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var since time.Time
	for {
		sb, err := s.southbound(ctx)
		missing := s.misplaced(changed, sb)
		switch {
		case err != nil || len(missing) > 0:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= hold:
			return nil, nil
		}
		switch {
		case pause(patience, lookInterval):
		case err == nil && len(missing) == 0:
			return []gateway.Problem{{Where: "all", Text: fmt.Sprintf("they are where they should be, but not for %s yet", hold)}}, nil
		case err == nil:
			cloud, err := s.Look(ctx)
			if err != nil {
				return nil, err
			}
			return s.misplaced(cloud.standing(changed), cloud.SB), nil
		default:
			return nil, err
		}
	}
}

func (s *Service) southbound(ctx context.Context) (sb ovsdb.Southbound, err error) {
	err = s.ask(ctx, func(g *ovsdb.Gateways) error {
		sb, err = g.Southbound(ctx)
		return err
	})
	return sb, err
}

// standing are the changes that nobody has changed again since, nor deleted.
func (c *Cloud) standing(changed []gateway.Change) (all []gateway.Change) {
	now := map[string][]ovsdb.CandidateRow{}
	for name, s := range c.stored {
		now[name] = s.rows
	}
	same := func(a, b gateway.Candidate) int { return cmp.Compare(a.Chassis, b.Chassis) }
	for _, change := range changed {
		rows, found := now[change.Group]
		if found && slices.Equal(slices.SortedFunc(slices.Values(planned(rows)), same), slices.SortedFunc(slices.Values(change.After), same)) {
			all = append(all, change)
		}
	}
	return all
}

// misplaced are the ports that are not where the rows say by now. The last change of a
// group counts. Where the master's ovn-controller is silent, its next one may host it too.
func (s *Service) misplaced(changed []gateway.Change, sb ovsdb.Southbound) (missing []gateway.Problem) {
	last := map[string]int{}
	for i, c := range changed {
		last[c.Group] = i
	}
	for i, c := range changed {
		if last[c.Group] != i {
			continue
		}
		for _, p := range c.Ports {
			where, known := sb.Redirects["cr-"+p.Name]
			if external, is := sb.Externals[p.Name]; is {
				where, known = external, true
			}
			switch {
			case !known:
				missing = append(missing, gateway.Problem{Where: p.Name, Text: "SB does not have it: ovn-northd makes nothing of it"})
			case s.mayBe(c, where):
			case where == "":
				missing = append(missing, gateway.Problem{Where: p.Name, Text: fmt.Sprintf("it is active nowhere, and should be on %s", c.To())})
			default:
				missing = append(missing, gateway.Problem{Where: p.Name, Text: fmt.Sprintf("it is active on %s, and should be on %s", where, c.To())})
			}
		}
	}
	return missing
}

func (s *Service) mayBe(c gateway.Change, where string) bool {
	for _, candidate := range c.After {
		if candidate.Chassis == where {
			return true
		}
		if !s.silent[candidate.Chassis] {
			return false
		}
	}
	return false
}
