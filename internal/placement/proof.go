package placement

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// hold is how long gateways must be where they should be. They bounce while the chassis
// of a group that grows first hear one another.
const hold = 3 * time.Second

// Prove waits until every port of what was changed is active where it should be, and stays
// there for a moment. It names those that are not when the time is over.
func (s *Service) Prove(ctx context.Context, changed []gateway.Change, wait time.Duration) ([]gateway.Problem, error) {
	g, err := s.Dialer.Gateways(ctx, s.NB, s.SB)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	patience, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var since time.Time
	for {
		sb, err := g.Southbound(ctx)
		if err != nil {
			return nil, err
		}
		missing := misplaced(changed, sb.Redirects)
		switch {
		case len(missing) > 0:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= hold:
			return nil, nil
		}
		if !pause(patience) {
			return missing, nil
		}
	}
}

// misplaced are the ports that are not where the rows say by now. The last change of a
// group counts.
func misplaced(changed []gateway.Change, active map[string]string) (missing []gateway.Problem) {
	last := map[string]int{}
	for i, c := range changed {
		last[c.Group] = i
	}
	for i, c := range changed {
		if last[c.Group] != i {
			continue
		}
		for _, p := range c.Ports {
			where, known := active["cr-"+p.Name]
			switch {
			case !known, where == c.To(): // an external port has no such binding
			case where == "":
				missing = append(missing, gateway.Problem{Where: p.Name, Text: fmt.Sprintf("it is active nowhere, and should be on %s", c.To())})
			default:
				missing = append(missing, gateway.Problem{Where: p.Name, Text: fmt.Sprintf("it is active on %s, and should be on %s", where, c.To())})
			}
		}
	}
	return missing
}
