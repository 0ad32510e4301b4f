package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// refuseOnlyCopy is the refusal where a server that does not answer was a member, and
// no unit that stays is known to have the database: then it is in this unit's file
// alone (rule R9).
func (s *Changer) refuseOnlyCopy(ctx context.Context, m observe.Application, cache observe.Cache, servers map[ovndb.Database]observe.ServerState) error {
	refused := &RefusedError{}
	var down []string
	asleep := true
	for _, d := range ovndb.Databases() {
		switch l := servers[d]; l.Condition {
		case ovndb.Down, ovndb.Hung, ovndb.Failed:
			file, err := l.File, l.FileErr
			if l.Condition == ovndb.Hung {
				file, err = s.Files.Inspect(ctx, d)
			}
			// A file that can't be read may be mended.
			if err == nil && (!file.Clustered || file.Left) || !onlyCopy(m, d, cache, file.Server) {
				continue
			}
			refused.Refusals = append(refused.Refusals, &raft.Refusal{Database: d, Reason: raft.SoleMember, Text: fmt.Sprintf(
				"no unit that stays has joined the cluster, so the only copy of the database is in %s; and %s", s.Control.Paths.File(d), l.Text())})
			down, asleep = append(down, string(ovndb.ServiceOf(d))), asleep && l.Condition == ovndb.Down
		}
	}
	if len(refused.Refusals) == 0 {
		return nil
	}
	start := restartCommand(m.Unit, down)
	if asleep {
		start = s.Env.Version.Render(juju.Command{Unit: m.Unit, Action: "resume"})
	}
	refused.Advice = append(refused.Advice, "start it again: "+start, "then wait until another unit has joined: Juju tries again by itself", onlyCopyAdvice+juju.Resolved(m.Unit, true))
	return refused
}

// restartCommand ends servers that hang, or have given their databases up, and starts all.
// No action does that to the only copy.
func restartCommand(unit string, services []string) string {
	names := strings.Join(services, " ")
	return fmt.Sprintf(`juju ssh %s "sudo systemctl unmask %s && sudo systemctl restart %s"`, unit, names, names)
}

// onlyCopy says whether this unit's server of a database, by its ID if that is known,
// was a member when it was last seen, and no unit that stays is known to be one: none
// of them has published a server that was a member since, or stood in the
// configuration, and was not removed.
func onlyCopy(m observe.Application, d ovndb.Database, cache observe.Cache, server raft.ID) bool {
	seen := cache.Configurations[d]
	if seen.Since == 0 && len(seen.Members) == 0 || server != "" && seen.Server != server {
		return false // it is not known to have been a member
	}
	for unit, published := range m.Published {
		id := published[d]
		if unit == m.Unit || id.Server == "" || !m.Exists(unit) || m.Dying(unit) || cache.RemovedBefore(d, id.Server) {
			continue
		}
		if id.Since != 0 || slices.Contains(seen.Members, id.Server.Short()) {
			return false
		}
	}
	return true
}
