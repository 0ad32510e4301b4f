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
	if word, text := r.trouble(); text != "" {
		return word, text
	}
	if text := s.waitingToLeave(r); text != "" {
		return juju.Active, text
	}
	if text := r.staleText(); text != "" {
		return juju.Active, text
	}
	return juju.Active, r.health()
}

// trouble is what keeps this unit from being a working member: first what somebody
// has to mend, then what ends by itself.
func (r Report) trouble() (juju.StatusWord, string) {
	word, text := juju.StatusWord(""), ""
	for _, c := range r.Clusters {
		w, t := c.trouble()
		if t != "" && (text == "" || w == juju.Blocked && word != juju.Blocked) {
			word, text = w, t
		}
	}
	return word, text
}

func (c Cluster) trouble() (juju.StatusWord, string) {
	name := c.Database.Short()
	switch {
	case c.Condition == Absent:
		return juju.Waiting, name + ": no database yet"
	case c.Condition != Serving:
		return juju.Blocked, name + ": " + c.Local.Text()
	case c.Status.State == raft.JoiningCluster:
		return juju.Waiting, name + ": joining the cluster"
	case c.Status.State == raft.LeavingCluster:
		return juju.Waiting, name + ": leaving the cluster"
	case c.alone():
		return juju.Waiting, fmt.Sprintf("%s: a leader is known, but no other member answers on its client port", name)
	case !c.View.LeaderUp() || !c.Quorum.Holds():
		return juju.Blocked, fmt.Sprintf("%s has no quorum: %s; run action cluster-status on the other units", name, c.quorumText())
	}
	return "", ""
}

// alone says whether a follower can ask nobody, though Raft itself works: as long
// as the client ports are closed, or the certificates not there.
func (c Cluster) alone() bool {
	if !c.Status.HasLeader() || c.Status.Role == raft.Leader {
		return false
	}
	for _, row := range c.Rows {
		if !row.Self && (row.Up || !c.Status.Hears(row.Short)) {
			return false
		}
	}
	return len(c.Rows) > 1
}

// quorumText names nobody as dead where this unit itself may be cut off.
func (c Cluster) quorumText() string {
	switch leader, up := c.View.Leader(); {
	case !c.Status.HasLeader():
		return fmt.Sprintf("this unit knows no leader of %d members", len(c.Rows))
	case !up:
		return fmt.Sprintf("the leader %s of %d members is not known to be up", leader.Short, len(c.Rows))
	}
	return c.Quorum.String()
}

// waitingToLeave is the first unit that is being removed and may not leave yet,
// and why: Juju itself shows only that its hook failed.
func (s *Service) waitingToLeave(r Report) string {
	for _, unit := range slices.SortedFunc(maps.Keys(r.Model.Goal), compareUnits) {
		if unit == r.Model.Unit || !r.Model.Dying(unit) {
			continue
		}
		if text := s.whyNotLeave(r, unit); text != "" {
			return text
		}
	}
	return ""
}

// whyNotLeave judges the leave of another unit in both databases: what to do about
// it, led by the command.
func (s *Service) whyNotLeave(r Report, unit string) string {
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
	return s.wayToLeave(lead, refusals, r.seen(), r.Model)
}

// staleText names the stale members, R16.
func (r Report) staleText() string {
	var all []string
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if !row.Owner.Stale {
				continue
			}
			text := fmt.Sprintf("%s: stale member %s", c.Database.Short(), row.Short)
			if row.Owner.Was != "" {
				text += " (was " + row.Owner.Was + ")"
			}
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + "; run action kick"
}

// health is the line of a unit that works: its part in each cluster, who is up,
// and who is not.
func (r Report) health() string {
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
				down = append(down, fmt.Sprintf("%s %s down", name, r.Model.describe(c.Database, row.Peer)))
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
