package membership

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
)

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
