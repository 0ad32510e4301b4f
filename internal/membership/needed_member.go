package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// stopped is what a server that does not answer has on the disk.
type stopped struct {
	observe.ServerState
	// clustered is false if the file has left, or is not that of a cluster: then no other unit's server counts on it.
	clustered bool
	// end is the end of the log of a clustered file that is whole: a server can be
	// started on it.
	end   raftfile.End
	whole bool
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
		server := stopped{ServerState: l, clustered: l.FileErr == nil && l.File.Clustered && !l.File.Left}
		if server.clustered {
			end, err := raftfile.ReadEnd(ctx, s.Files.Paths, d)
			server.end, server.whole = end, err == nil && end.Damage == ""
			if !server.whole {
				s.Log.InfoContext(ctx, "no server can be started on the file", "database", d.Short(), "damage", end.Damage, "error",
					err)
			}
		}
		all = append(all, server)
	}
	return all
}

// needed are servers that do not answer and that units which stay count on. It has the reasons why the unit can't go
// without them, and what to do once they run.
type needed struct {
	servers []stopped
	reasons []finding.Finding
	then    []finding.Remedy
}

func (n *needed) add(l stopped, f finding.Finding) {
	n.servers, n.reasons = append(n.servers, l), append(n.reasons, f)
}

// neededMembers are the members without which the others are no majority (rule R1): once
// their unit is gone the others can commit nothing, not even a removal. A file that can be
// read brings the quorum back.
func (s *Changer) neededMembers(ctx context.Context, m observe.Application, cache observe.Cache,
	servers []stopped,
) needed {
	n := needed{then: []finding.Remedy{finding.ByHand(finding.AwaitLeave), leaveBehind(m)}}
	for _, l := range servers {
		if _, member := l.end.Addresses[l.File.Server]; !l.whole || !member || len(l.end.Members) == 1 {
			continue // an only copy is judged by itself
		}
		without, removed := s.Observer.QuorumWithout(ctx, m, cache, l.ServerState, l.end)
		if removed || without.Holds() {
			continue
		}
		n.add(l, finding.Of(finding.ServerNeeded, l.Database,
			finding.Args{After: finding.Tally{Up: without.Up, Members: without.Members}, Detail: l.Text()}))
	}
	return n
}

// restartable reports whether servers have given their databases up, and have whole files: then
// starting them again loses nothing, and needs no operator.
func (n needed) restartable() bool {
	return !slices.ContainsFunc(n.servers, func(l stopped) bool { return l.Condition != ovndb.Failed || !l.whole })
}

// startNeeded restarts the servers if it can: a unit that goes and whose `stop` has failed runs no other hook that
// would do it. It returns the refusal, whose first way out is what was done or what an operator has to do.
func (s *Changer) startNeeded(ctx context.Context, unit string, n needed) error {
	first := finding.Do(s.startCommand(unit, n.servers))
	if n.restartable() {
		if err := s.restartAll(ctx, n.servers); err != nil {
			s.Log.WarnContext(ctx, "cannot restart the servers that the others need", "error", err)
		} else {
			first = finding.ByHand(finding.AwaitServer)
		}
	}
	return finding.Refuse(n.reasons, append([]finding.Remedy{first}, n.then...)...)
}

func (s *Changer) restartAll(ctx context.Context, servers []stopped) error {
	for _, l := range servers {
		if err := s.Services.Restart(ctx, ovndb.ServiceOf(l.Database)); err != nil {
			return err
		}
	}
	return nil
}

// startCommand is the command that starts servers that do not answer again: the action resume if they are down,
// whether they were paused or not. No action ends servers that hang, or have given their databases up.
func (s *Changer) startCommand(unit string, servers []stopped) command.Command {
	var services []string
	down := true
	for _, l := range servers {
		services, down = append(services, string(ovndb.ServiceOf(l.Database))), down && l.Condition == ovndb.Down
	}
	if down {
		return command.Command{Unit: unit, Action: "resume"}
	}
	names := strings.Join(services, " ")
	return command.OnMachine(unit, fmt.Sprintf("sudo systemctl unmask %s && sudo systemctl restart %s", names, names))
}
