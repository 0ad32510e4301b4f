package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Cache is the data that a unit keeps on its disk, beside the databases: Juju drops the data that a failed hook has
// published, and removes the peer relation before `stop`.
type Cache struct {
	// Unit is the unit that wrote the cache, Model the UUID of its model.
	Unit  string `json:"unit,omitempty"`
	Model string `json:"model,omitempty"`
	// Relations are the IDs of the peer relation; empty if its data could not be read.
	Relations []string         `json:"relations,omitempty"`
	History   relation.History `json:"history,omitempty"`
	// Published are the identities that the units last published.
	Published relation.UnitIdentities `json:"published,omitempty"`
	// Departed maps units to the time when they were first missing from the model, for [notedLeavePatience].
	Departed map[string]time.Time `json:"departed,omitempty"`
	// Configurations are the configurations that this unit's servers last had.
	Configurations map[ovndb.Database]relation.Configuration `json:"sightings,omitempty"`
	// Inconsistent are this unit's servers that could not apply an entry of their log ([Snapshot.Inconsistent]).
	Inconsistent map[ovndb.Database]raft.ID `json:"inconsistent,omitempty"`
	// Joins are the joins in progress of this unit's servers ([Snapshot.JoinIsLost]).
	Joins map[ovndb.Database]Join `json:"joins,omitempty"`
	// Places are the last known machines of the other units: the agent can't ask Juju.
	Places map[string]Place `json:"places,omitempty"`
	// Former are this machine's servers that belong to another unit, according to that unit's cache ([formerServers]).
	Former map[ovndb.Database]FormerServer `json:"former,omitempty"`
}

// Place identifies a unit's machine.
type Place struct {
	Address  string `json:"address,omitempty"`
	Hostname string `json:"hostname,omitempty"`
}

// places returns the places of the other units that exist; units that were not read keep their entry.
func places(cache Cache, m Application) map[string]Place {
	all := map[string]Place{}
	for _, unit := range m.Others() {
		if known, is := cache.Places[unit]; is {
			all[unit] = known
		}
		p := m.Peers[unit]
		if p.Unread() || p.Empty() {
			continue
		}
		one := Place{Hostname: p.State.Hostname}
		if p.State.Address.IsValid() {
			one.Address = p.State.Address.String()
		}
		all[unit] = one
	}
	return all
}

const cacheFile = "ovn-central-operator.json"

// CachePath returns the path of the unit's cache.
func (s *Observer) CachePath() string { return filepath.Join(s.Control.Paths.DB, cacheFile) }

// loadCache reads the unit's cache. It drops and logs an unreadable one: nothing depends on it.
func (s *Observer) loadCache(ctx context.Context) Cache {
	var m Cache
	text, err := os.ReadFile(s.CachePath())
	if errors.Is(err, fs.ErrNotExist) {
		return m
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "cannot read this unit's cache; continuing without it", "path", s.CachePath(), "error", err)
		return Cache{}
	}
	if m.Unit != "" && !s.Env.Is(m.Unit, m.Model) {
		s.Log.InfoContext(ctx, "ignoring the cache of another unit that was on this machine before",
			"unit", m.Unit, "model", m.Model)
		return Cache{Former: m.leftBehind()}
	}
	return m
}

func (s *Observer) saveCache(m Cache) error {
	m.Unit, m.Model = s.Env.Unit, s.Env.ModelUUID
	text, err := json.MarshalIndent(m, "", " ")
	if err == nil {
		_, err = atomicfile.Install(s.CachePath(), text, 0o600)
	}
	return err
}

// identities returns the identities that this unit should publish, from the servers that answer and from the files of
// the others. A failure of one database does not hide the other. A server that has left has no identity. A server
// whose file can't be read keeps the identity that was published last, even after a kick, until the file is moved
// away.
func (s *Observer) identities(
	ctx context.Context, servers map[ovndb.Database]ServerState, cache Cache,
) relation.Identities {
	own := relation.Identities{}
	for d, l := range servers {
		unread := l.Condition == ovndb.Hung || l.Condition == ovndb.Unreadable
		if unread {
			l.File, l.FileErr = s.Files.Inspect(ctx, d)
		}
		if l.FileErr != nil {
			s.Log.WarnContext(ctx, "cannot find the server's identity", "database", d.Short(), "error", l.FileErr)
			unread = true
		}
		id, known := l.Identity(), cache.Published[s.Env.Unit][d]
		inFile := l.FileErr == nil && l.File.Exists && l.File.Clustered && !l.File.Left && id.Server != ""
		switch {
		case l.Condition == ovndb.Serving, inFile:
			own[d] = id
		case unread && known.Server != "":
			own[d] = known
		}
	}
	return own
}

// updateCache adds the state of the model and of the unit's servers to the cache. It adds to the cache and the model
// the indexes since which the servers are members.
func (s *Observer) updateCache(cache Cache, m *Application, servers map[ovndb.Database]ServerState) Cache {
	next := Cache{
		History: m.History, Published: m.Published, Configurations: map[ovndb.Database]relation.Configuration{},
		Departed: departed(cache, *m, s.Now()), Places: places(cache, *m),
		Inconsistent: inconsistent(cache.Inconsistent, servers), Joins: joins(cache.Joins, servers, s.Now()),
		Former: formerServers(cache.Former, *m, servers),
	}
	if m.Unread == nil {
		next.Relations = m.Relations
	}
	maps.Copy(next.Configurations, cache.Configurations)
	m.Places, m.Former = next.Places, next.Former
	m.Departed, m.DepartedEarlier = nil, slices.Sorted(maps.Keys(next.Departed))
	for _, unit := range m.DepartedEarlier {
		if s.Now().Sub(next.Departed[unit]) < leavePatience {
			m.Departed = append(m.Departed, unit)
		}
	}
	m.Members = map[ovndb.Database][]string{}
	for _, d := range ovndb.Databases() {
		if l := servers[d]; l.Condition == ovndb.Serving && l.Status.Server != next.Former[d].Server {
			seen := relation.Observation{Database: d, Status: l.Status, Published: m.Published, At: s.Now()}
			next.History, next.Configurations[d] = next.History.Observe(cache.Configurations[d], seen)
		}
	}
	next.addIndexes(m, servers)
	for d, seen := range next.Configurations {
		if servers[d].MemberWithLeader() && next.Former[d].Server != servers[d].Status.Server {
			m.Members[d] = seen.Members
		}
	}
	m.History = next.History
	return next
}

// addIndexes adds to this unit's identities the indexes since which its servers are members, or are listed as members
// in their own logs.
func (c Cache) addIndexes(m *Application, servers map[ovndb.Database]ServerState) {
	own := maps.Clone(m.Published[m.Unit])
	for d, id := range own {
		if seen := c.Configurations[d]; seen.Server == id.Server {
			id.Since = seen.Since
		}
		if l := servers[d]; id.Since == 0 && l.Condition == ovndb.Serving && l.Status.ListsItself() {
			id.Listed = l.Status.Log.End
		}
		own[d] = id
	}
	if len(own) > 0 {
		m.Published[m.Unit] = own
	}
}

// leavePatience is how long a unit that disappeared from the model may still be leaving: Juju 4 removes it while its
// `stop` runs, and removes its data seconds before or after. Several `update-status` run in that time.
const leavePatience = 5 * time.Minute

// notedLeavePatience is the same for a unit with a recorded leave. No hook begins a change 20 minutes after its
// start, but with a large database or without a leader `stop` may wait that long.
const notedLeavePatience = 20 * time.Minute

// departed returns the units that recently disappeared from the model, with the time when each was first missed. If
// Juju could not be asked, no unit counts as missing.
func departed(cache Cache, m Application, now time.Time) map[string]time.Time {
	all := map[string]time.Time{}
	for unit := range cache.Published {
		if unit != m.Unit && !m.Exists(unit) {
			all[unit] = now
		}
	}
	for unit, at := range cache.Departed {
		switch age := now.Sub(at); {
		case m.Exists(unit) || age >= notedLeavePatience:
		case age < 0: // the clock was set back since
			all[unit] = now
		default:
			all[unit] = at
		}
	}
	return all
}

// RemovedBefore reports whether the history lists the server as removed.
func (c Cache) RemovedBefore(d ovndb.Database, id raft.ID) bool {
	return !c.History[d][id].Removed.IsZero()
}

// OtherAddresses lists the addresses of the other members of a status.
func OtherAddresses(s raft.Status) []string {
	var all []string
	for _, m := range s.Servers {
		if !m.Self && !slices.Contains(all, m.Address) {
			all = append(all, m.Address)
		}
	}
	return all
}

// ForgetServers writes the cache of a unit whose servers have left, and replaces the unit's identities by own.
func (s *Observer) ForgetServers(ctx context.Context, cache Cache, own relation.Identities) {
	cache.Published = maps.Clone(cache.Published)
	cache.Published[s.Env.Unit] = own
	if err := s.saveCache(cache); err != nil {
		s.Log.WarnContext(ctx, "cannot save what was observed; continuing", "error", err)
	}
}

// FormerServer is a server that a previous unit has left on this machine.
type FormerServer struct {
	Unit   string  `json:"unit"`
	Server raft.ID `json:"server"`
}

// leftBehind returns the servers that the unit of this cache had itself, or had found on the machine.
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

// formerServers returns the servers of before that do not belong to this unit yet. A server belongs to this unit once
// it is a member with a leader in the cluster that the other units publish. Until then it may have been removed, or
// be of an abandoned cluster, and its view shows nothing about the application.
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

// sharesCluster reports whether every other unit that publishes a cluster is in this one.
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

func (c *Cluster) excludeFormer(former FormerServer) {
	if c.Condition == ovndb.Serving && former.Server != "" && c.Status.Server == former.Server {
		c.Condition = ovndb.Former
		c.Err = fmt.Errorf("the server of %s, which was on this machine before, still runs", former.Unit)
	}
}
