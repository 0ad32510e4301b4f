package membership

import (
	"cmp"
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

// stopped is a server that does not answer, and its file.
type stopped struct {
	observe.ServerState
	// clustered is false if the server has left, or was in no cluster. Then it is no member.
	clustered bool
	// end is the end of the log of a clustered file that is whole: a server can be started on it.
	end   raftfile.End
	whole bool
}

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

// needed are stopped servers that staying units need, the reasons, and what to do once the servers run.
type needed struct {
	servers []stopped
	reasons []finding.Finding
	then    []finding.Remedy
}

func (n *needed) add(l stopped, f finding.Finding) {
	n.servers, n.reasons = append(n.servers, l), append(n.reasons, f)
}

// neededMembers returns the members without which the others are no majority (rule R1). The others could commit nothing
// without them, not even a removal. A server that can be started brings the quorum back.
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

// startNeeded returns the refusal. First it restarts the servers if all have given up their databases and have whole
// files: that loses nothing, and no hook runs any more after a failed stop.
func (s *Changer) startNeeded(ctx context.Context, unit string, n needed) error {
	first := finding.Do(s.startCommand(unit, n.servers))
	if !slices.ContainsFunc(n.servers, func(l stopped) bool { return l.Condition != ovndb.Failed || !l.whole }) {
		var services []ovndb.Service
		for _, l := range n.servers {
			services = append(services, ovndb.ServiceOf(l.Database))
		}
		if err := s.Services.Restart(ctx, services...); err != nil {
			s.Log.WarnContext(ctx, "cannot restart the servers that the others need", "error", err)
		} else {
			first = finding.ByHand(finding.AwaitServer)
		}
	}
	return finding.Refuse(n.reasons, append([]finding.Remedy{first}, n.then...)...)
}

// startCommand returns the command that starts stopped servers: the action resume if all are down, whether or not they
// were paused. No action ends servers that hang or have given up their databases.
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

// onlyCopies returns the stopped servers whose databases no staying unit is known to have (rule R9).
func (s *Changer) onlyCopies(m observe.Application, cache observe.Cache, servers []stopped) needed {
	n := needed{then: []finding.Remedy{finding.ByHand(finding.AwaitJoin), TakeTheCopy(m)}}
	for _, l := range servers {
		// A file that can't be read may be mended.
		if l.FileErr == nil && !l.clustered || !onlyCopy(m, cache, l) {
			continue
		}
		n.add(l, finding.Of(finding.OnlyCopy, l.Database,
			finding.Args{Detail: s.Control.Paths.File(l.Database) + ": " + l.Text()}))
	}
	return n
}

// onlyCopy reports whether this unit has the only copy of a database. Two conditions must hold:
//   - The server was a member when it was last seen, or is the only member by its file, like that of a cluster on which
//     no server has run yet. The server's ID counts if it is known.
//   - No staying unit is known to be a member: none has published a server of this cluster that has been a member, or
//     was in the last seen configuration, and was not removed since.
func onlyCopy(m observe.Application, cache observe.Cache, l stopped) bool {
	d := l.Database
	seen, cluster := cache.Configurations[d], cmp.Or(l.File.Cluster, m.Published[m.Unit][d].Cluster)
	sole := l.whole && l.end.Sole(l.File.Server)
	if !sole && (seen.Since == 0 && len(seen.Members) == 0 || l.File.Server != "" && seen.Server != l.File.Server) {
		return false // it is not known to have been a member
	}
	for unit, published := range m.Published {
		id := published[d]
		if unit == m.Unit || id.Server == "" || !m.Exists(unit) || m.Dying(unit) || cache.RemovedBefore(d, id.Server) ||
			id.OfAnother(cluster) {
			continue
		}
		if id.Since != 0 || slices.Contains(seen.Members, id.Server.Short()) {
			return false
		}
	}
	return true
}
