package observe

import (
	"fmt"
	"maps"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// FormerServer is a server that a previous unit has left on this machine.
type FormerServer struct {
	Unit   string  `json:"unit"`
	Server raft.ID `json:"server"`
}

// leftBehind returns the servers that the unit of this cache had, or had found.
func (c Cache) leftBehind() map[ovndb.Database]FormerServer {
	all := map[ovndb.Database]FormerServer{}
	maps.Copy(all, c.Former)
	for d, id := range c.Published[c.Unit] {
		if id.Server != "" {
			all[d] = FormerServer{Unit: c.Unit, Server: id.Server}
		}
	}
	return all
}

// formerServers returns those of before that are still not this unit's. A server becomes this unit's once it is a
// member with a leader in the cluster that the other units publish. Until then it may be removed, or of a cluster that
// was given up, and its view tells nothing about the application.
func formerServers(
	before map[ovndb.Database]FormerServer, m Application, servers map[ovndb.Database]ServerState,
) map[ovndb.Database]FormerServer {
	all := map[ovndb.Database]FormerServer{}
	for d, former := range before {
		l := servers[d]
		id := l.Identity()
		gone := l.Condition == ovndb.Absent || id.Server != "" && id.Server != former.Server
		if !gone && !(l.MemberWithLeader() && m.sharesCluster(d, id.Cluster)) {
			all[d] = former
		}
	}
	return all
}

// sharesCluster reports whether the other units are in the cluster, as far as they publish one.
func (m Application) sharesCluster(d ovndb.Database, cluster raft.ID) bool {
	shared := len(m.Others()) == 0
	for unit, published := range m.Published {
		switch other := published[d].Cluster; {
		case unit == m.Unit || other == "":
		case other != cluster:
			return false
		default:
			shared = true
		}
	}
	return shared
}

// excludeFormer excludes another unit's server from judgement.
func (c *Cluster) excludeFormer(former FormerServer) {
	if c.Condition == ovndb.Serving && former.Server != "" && c.Status.Server == former.Server {
		c.Condition = ovndb.Former
		c.Err = fmt.Errorf("the server of %s, which was on this machine before, still runs", former.Unit)
	}
}
