package membership

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// onlyCopies are the servers that were members while no unit that stays is known to have
// their databases: then they are in this unit's files alone (rule R9).
func (s *Changer) onlyCopies(m observe.Application, cache observe.Cache, servers []stopped) needed {
	n := needed{refused: &RefusedError{Advice: []string{
		"then wait until another unit has joined: Juju tries again by itself", OnlyCopyAdvice + juju.Version{}.Render(command.Resolved(m.Unit, true)),
	}}}
	for _, l := range servers {
		// A file that can't be read may be mended.
		if l.FileErr == nil && !l.clustered || !onlyCopy(m, cache, l) {
			continue
		}
		n.refused.Refusals = append(n.refused.Refusals, &raft.Refusal{Database: l.Database, Reason: raft.SoleMember, Text: fmt.Sprintf(
			"no unit that stays has joined the cluster, so the only copy of the database is in %s; %s", s.Control.Paths.File(l.Database), l.Text())})
		n.servers = append(n.servers, l)
	}
	return n
}

// restartCommand ends servers that hang, or have given their databases up, and starts all.
// No action does that to the only copy.
func restartCommand(unit string, services []string) string {
	names := strings.Join(services, " ")
	return fmt.Sprintf(`juju ssh %s "sudo systemctl unmask %s && sudo systemctl restart %s"`, unit, names, names)
}

// onlyCopy says whether this unit's server of a database, by its ID if that is known,
// was a member when it was last seen, or is the only one by its file, as that of a cluster on
// which no server has run yet, and no unit that stays is known to be one: none
// of them has published a server of its cluster that was a member since, or stood in the
// configuration, and was not removed.
func onlyCopy(m observe.Application, cache observe.Cache, l stopped) bool {
	d := l.Database
	seen, cluster := cache.Configurations[d], cmp.Or(l.File.Cluster, m.Published[m.Unit][d].Cluster)
	sole := l.whole && l.end.Sole(l.File.Server)
	if !sole && (seen.Since == 0 && len(seen.Members) == 0 || l.File.Server != "" && seen.Server != l.File.Server) {
		return false // it is not known to have been a member
	}
	for unit, published := range m.Published {
		id := published[d]
		if unit == m.Unit || id.Server == "" || !m.Exists(unit) || m.Dying(unit) || cache.RemovedBefore(d, id.Server) || id.OfAnother(cluster) {
			continue
		}
		if id.Since != 0 || slices.Contains(seen.Members, id.Server.Short()) {
			return false
		}
	}
	return true
}
