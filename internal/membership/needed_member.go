package membership

import (
	"context"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// stopped is what a server that does not answer has on the disk.
type stopped struct {
	observe.ServerState
	// clustered is false where the file has left, or is no cluster's: then no other
	// unit's server counts on it.
	clustered bool
}

// stoppedServers are the servers of this unit that do not answer.
func (s *Changer) stoppedServers(ctx context.Context, servers map[ovndb.Database]observe.ServerState) []stopped {
	var all []stopped
	for _, d := range ovndb.Databases() {
		l := servers[d]
		if !slices.Contains([]ovndb.Condition{ovndb.Down, ovndb.Hung, ovndb.Failed}, l.Condition) {
			continue
		}
		if l.Condition == ovndb.Hung {
			l.File, l.FileErr = s.Files.Inspect(ctx, d)
		}
		all = append(all, stopped{l, l.FileErr == nil && l.File.Clustered && !l.File.Left})
	}
	return all
}

// refuseNeededMember is the refusal where a server that does not answer is a member, and
// the others are no majority without it (rule R1): once its unit is gone they can commit
// nothing, not even its removal. Its file, which can be read, brings the quorum back.
func (s *Changer) refuseNeededMember(ctx context.Context, m observe.Application, cache observe.Cache, servers []stopped) error {
	refused := &RefusedError{}
	var needed []stopped
	for _, l := range servers {
		if !l.clustered {
			continue
		}
		end, err := s.Files.LogEnd(ctx, l.Database)
		switch _, member := end.Addresses[l.File.Server]; {
		case err != nil || end.Damage != "": // no server starts on it
			s.Log.InfoContext(ctx, "the file of a server that does not run can't bring it back", "database", l.Database.Short(), "damage", end.Damage, "error", err)
			continue
		case !member || len(end.Members) == 1: // the only copy is judged by itself
			continue
		}
		without, removed := s.Observer.QuorumWithout(ctx, m, l.Database, cache, l.File, end)
		if removed || without.Holds() {
			continue
		}
		refused.Refusals = append(refused.Refusals, &raft.Refusal{Database: l.Database, Reason: raft.NoQuorum, Text: fmt.Sprintf(
			"without this unit's server the others are no majority: %s; and %s", without, l.Text())})
		needed = append(needed, l)
	}
	if len(refused.Refusals) == 0 {
		return nil
	}
	refused.Command = s.startCommand(m.Unit, needed)
	refused.Advice = append(refused.Advice, "start it again: "+refused.Command, "then it leaves by itself: Juju tries again", overrideAdvice+juju.Resolved(m.Unit, true))
	return refused
}

// startCommand starts servers that do not answer again: action resume those that are
// down, whether they were paused or not.
func (s *Changer) startCommand(unit string, servers []stopped) string {
	var services []string
	down := true
	for _, l := range servers {
		services, down = append(services, string(ovndb.ServiceOf(l.Database))), down && l.Condition == ovndb.Down
	}
	if down {
		return s.Env.Version.Render(juju.Command{Unit: unit, Action: "resume"})
	}
	return restartCommand(unit, services)
}
