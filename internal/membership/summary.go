package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Summary is the unit's workload status: one word and one line, the most
// pressing thing first.
func (s *Service) Summary(r Report) (juju.StatusWord, string) {
	if foreign := r.foreignClusters(); len(foreign) > 0 {
		return juju.Blocked, strings.Join(foreign, "; ")
	}
	if word, text := s.firstProblem(r); text != "" {
		return word, text
	}
	if text := s.blockedLeaves(r); text != "" {
		return juju.Active, text
	}
	if text := s.staleText(r); text != "" {
		return juju.Active, text
	}
	return juju.Active, r.healthyText()
}

// blockedLeaves is the first unit that is being removed and may not leave yet,
// and why: Juju itself shows only that its hook failed.
func (s *Service) blockedLeaves(r Report) string {
	for _, unit := range slices.SortedFunc(maps.Keys(r.Application.Goal), compareUnits) {
		if unit == r.Application.Unit || !r.Application.Dying(unit) {
			continue
		}
		if text := s.blockedLeave(r, unit); text != "" {
			return text
		}
	}
	return ""
}

// blockedLeave judges the leave of another unit in both databases: what to do about
// it, led by the command.
func (s *Service) blockedLeave(r Report, unit string) string {
	var refusals []*raft.Refusal
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Owner.Unit != unit {
				continue
			}
			plan := raft.PlanLeave(raft.Change{Database: c.Database, View: c.View, Target: row.Longest()})
			if plan.Refusal != nil {
				refusals = append(refusals, plan.Refusal)
			}
		}
	}
	lead := unit + " waits to leave"
	switch i := slices.IndexFunc(refusals, func(f *raft.Refusal) bool { return len(f.Blockers) > 0 }); {
	case len(refusals) == 0:
		return ""
	case i < 0:
		return lead + ": " + refusals[0].Error()
	}
	return s.leaveRemediation(lead, refusals, r.views(), r.Application)
}

// staleText names the stale members, R16, and what to do about them. That nothing
// more may fail comes first.
func (s *Service) staleText(r Report) string {
	var names []string
	up := false
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Owner.Stale {
				names = append(names, c.Database.Short()+" "+r.Application.describe(c.Database, row.Peer))
				up = up || row.Up
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	rest := " (" + strings.Join(names, ", ")
	if up {
		rest += ", which is up"
	}
	rest += ")"
	lead := "stale member"
	for _, c := range r.Clusters {
		if c.Quorum.Tolerance() == 0 && len(c.Rows) > 1 {
			lead = "no more may fail; " + lead
			break
		}
	}
	if all := r.stale(); len(all) > 0 {
		return commandFirst(lead, s.kickStale(r, all[0]), rest)
	}
	return lead + rest + ": it can't be kicked yet; see action cluster-status"
}

// healthyText is the line of a unit that works: its part in each cluster, who is up,
// and who is not.
func (r Report) healthyText() string {
	var roles, counts, down []string
	for _, c := range r.Clusters {
		role := "member"
		if c.Status.Role == raft.Leader {
			role = "leader"
		}
		name := c.Database.Short()
		roles = append(roles, name+" "+role)
		counts = append(counts, fmt.Sprintf("%d of %d up", c.Quorum.Up, c.Quorum.Members))
		for _, row := range c.Rows {
			if !row.Up {
				down = append(down, fmt.Sprintf("%s %s down", name, r.Application.describe(c.Database, row.Peer)))
			}
		}
	}
	text := strings.Join(roles, ", ") + "; "
	if counts[0] == counts[1] {
		text += counts[0]
	} else {
		text += fmt.Sprintf("nb %s, sb %s", counts[0], counts[1])
	}
	if len(down) > 0 {
		text += "; " + strings.Join(down, ", ")
	}
	return text
}
