package observe

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// Application is the state of the application according to Juju, the units' published data and this unit's cache.
type Application struct {
	// Unit is this unit. Version is the version of its Juju, which determines the syntax of printed commands.
	Unit    string
	Version juju.Version
	// Charm is the version of the charm that this unit runs; empty if the build has none.
	Charm string
	// Goal are the units that should exist; nil if Juju could not be asked.
	Goal map[string]juju.UnitGoal
	// Remote are the units of other applications, by this application's endpoint.
	Remote map[string]map[string]juju.UnitGoal
	// Peers is the data that the other units have published on the peer relation, without the identities of their
	// servers. Units that could not be read are missing.
	Peers map[string]Peer
	// AppData is all of the application's data on that relation, as the leaders published it.
	AppData relation.Data
	// Unread explains why some data of Juju could not be read; nil if all could. If it is set, missing data is unknown,
	// not absent.
	Unread error
	// Published are the identities of the existing units, including this one.
	Published relation.UnitIdentities
	// Members are the identities in the committed configuration of each database, as this unit's server last saw it.
	Members map[ovndb.Database][]string
	// Places are the other units' machines, as far as these are published.
	Places map[string]Place
	// Former are the servers on this machine that belong to another unit ([formerServers]).
	Former map[ovndb.Database]FormerServer
	// Departed are the units that disappeared from the model some minutes ago and may still be leaving. DepartedEarlier
	// adds units that may still be leaving only if their leave is recorded.
	Departed, DepartedEarlier []string
	// History has the servers of units that may be gone.
	History relation.History
	// Relations are the peer relation's IDs. It is empty in the hook stop of a unit whose agent has restarted since the
	// unit joined.
	Relations []string
	// Problems are the defects of other units' published data and of Juju's answers.
	Problems []finding.Finding
}

// Peer is the published data of another unit, parsed once. The zero value means that the data was not read.
type Peer struct {
	relation.Data
	State relation.UnitState
	// Problems are the malformed parts of the data, which State lacks.
	Problems []string
}

// readApplication asks Juju. If the peer relation is gone or a call fails, this unit's cache replaces the answer:
// `stop` and reports may not depend on a relation (R9). All other decisions check Unread first.
func readApplication(ctx context.Context, tools *juju.Tools, env juju.Env, cache Cache) Application {
	m := Application{
		Unit: env.Unit, Version: env.Version, Charm: version.Known(), Peers: map[string]Peer{},
		Published: relation.UnitIdentities{}, History: cache.History,
	}
	note := func(err error) {
		if err != nil {
			m.Problems = append(m.Problems, finding.New(finding.JujuUnread, finding.Subject{},
				finding.Quote(err.Error()).Args()))
			m.Unread = cmp.Or(m.Unread, err)
		}
	}
	goal, err := tools.GoalState(ctx)
	note(err)
	if err == nil {
		m.Goal, m.Remote = goal.Units, goal.Relations
	}
	// A unit keeps its peer relation until it is being removed, so its ID need not be asked for again.
	if m.Relations = cache.Relations; len(m.Relations) == 0 || m.Goal == nil || m.Dying(env.Unit) {
		m.Relations, err = tools.RelationIDs(ctx, relation.Peer)
		note(err)
	}
	for _, id := range m.Relations {
		note(m.readRelation(ctx, tools, env, id))
	}
	// A unit that is being removed has left the relation, but stays a member until it has left the clusters.
	for unit, published := range cache.Published {
		if _, read := m.Published[unit]; !read && m.Exists(unit) {
			m.Published[unit] = published
		}
	}
	for unit := range m.Peers {
		if _, known := m.Published[unit]; !known {
			m.Published[unit] = relation.Identities{}
		}
	}
	return m
}

// publish adds the data that this unit itself publishes. It copies the map, which an earlier snapshot may share.
func (m *Application) publish(own relation.Identities) {
	m.Published = maps.Clone(m.Published)
	m.Published[m.Unit] = own
	m.History = m.History.Publish(m.Published)
}

// readRelation reads the data that the other units have published on the peer relation. Juju hides a unit that is
// being removed from the list of the relation's units, but not its data (relation hooks of a dying unit;
// state/relationunit.go, PrepareLeaveScope); Juju 4 continues to list units that are gone.
func (m *Application) readRelation(ctx context.Context, tools *juju.Tools, env juju.Env, id string) error {
	// Of the listed units, only those in the goal state exist.
	units := m.Others()
	if m.Goal == nil {
		var err error
		if units, err = tools.RelationUnits(ctx, id); err != nil {
			return err
		}
	}
	for _, unit := range units {
		databag, err := tools.RelationGet(ctx, id, unit)
		if errors.Is(err, juju.ErrNotFound) { // this unit has yet to join
			databag, err = nil, nil
		}
		if err != nil {
			// Juju 4 returns another error for a unit that has yet to join, or has already left.
			listed, unlisted := tools.RelationUnits(ctx, id)
			if unlisted != nil || slices.Contains(listed, unit) {
				return err
			}
			continue
		}
		m.read(unit, databag)
	}
	databag, err := tools.RelationGetApp(ctx, id, env.App)
	if err != nil { // the unit is listed, so its data must exist
		return err
	}
	m.AppData = relation.Read(databag)
	history, problems := relation.ParseHistory(databag)
	for _, p := range problems {
		m.damaged(env.App, p)
	}
	m.History = m.History.Merge(history)
	return nil
}

func (m *Application) damaged(name string, problem finding.Reason) {
	m.Problems = append(m.Problems, finding.New(finding.PublishedDamaged, finding.Subject{Name: name},
		problem.Args()))
}

func (m *Application) read(unit string, databag map[string]string) {
	published, problems := relation.ParseIdentities(databag)
	for _, p := range problems {
		m.damaged(unit, p)
	}
	p := Peer{Data: relation.Read(databag)}
	p.State, p.Problems = relation.ParseUnitState(databag)
	m.Peers[unit] = p
	if !p.Empty() { // otherwise the cached identities stay
		m.Published[unit] = published
	}
}

// Exists reports whether the unit is in the model; true if that is not known.
func (m Application) Exists(unit string) bool {
	_, found := m.Goal[unit]
	return found || m.Goal == nil
}

// Dying reports whether the unit is being removed.
func (m Application) Dying(unit string) bool { return juju.GoalState{Units: m.Goal}.Dying(unit) }

// AllDying reports whether every unit is being removed, including this one. Then each stops its servers, none leaves
// its clusters, and the data stays.
func (m Application) AllDying() bool { return m.Dying(m.Unit) && !m.OthersStay() }

// OthersStay reports whether another unit exists that is not being removed; true if Juju could not be asked.
func (m Application) OthersStay() bool {
	return m.Goal == nil || slices.ContainsFunc(m.Others(), func(unit string) bool { return !m.Dying(unit) })
}

// KnowsPeers reports whether anything is known about the other units: their data, or that no other unit exists.
func (m Application) KnowsPeers() bool {
	others := m.Others()
	if len(others) == 0 {
		return m.Goal != nil && len(m.Relations) > 0
	}
	return slices.ContainsFunc(others, func(unit string) bool {
		return len(m.Published[unit]) > 0 || !m.Peers[unit].Unread() && !m.Peers[unit].Empty()
	})
}

// Others returns the other units that exist, ordered by number. If Juju could not be asked, it returns the units that
// this unit knows.
func (m Application) Others() []string {
	known := slices.Collect(maps.Keys(m.Goal))
	if m.Goal == nil {
		known = m.Published.Names()
	}
	known = slices.DeleteFunc(known, func(unit string) bool { return unit == m.Unit })
	slices.SortFunc(known, unitname.Compare)
	return known
}

// RequestsRecovery reports whether another unit publishes a request for a recovery.
func (m Application) RequestsRecovery() bool {
	return slices.ContainsFunc(m.Others(), func(unit string) bool { return len(m.Peers[unit].State.Requests) > 0 })
}

// Owner is the unit to which a member belongs.
type Owner struct {
	// Unit is the unit of the model that publishes the member's ID.
	Unit string
	// Was is the unit that once published it, if no unit of the model publishes it now.
	Was string
	// Stale reports whether no unit owns the member (R16): every unit of the model has published both identities, in one
	// cluster, all of them are members, and none of them is this member. Only then may a kick be advised. Two kinds of
	// members that are up are not stale. One is at the address of a unit's own server: that unit may not have published
	// yet that it joined again. The unit of the other was just removed, so it may be leaving: for minutes, or if its
	// leave is recorded (R5), for as long as the hook that recorded it may run.
	Stale bool
	// Departing reports whether the member is up and its unit was just removed.
	Departing bool
}

// Owner returns the owner of a member.
func (m Application) Owner(d ovndb.Database, p raft.Peer) Owner {
	for _, unit := range m.Published.Names() {
		if id := m.Published[unit][d].Server; id != "" && p.Is(id) {
			return Owner{Unit: unit}
		}
	}
	o := Owner{}
	was := map[string]bool{}
	for id, known := range m.History[d] {
		if p.Is(id) && known.Unit != "" && known.Removed.IsZero() {
			was[known.Unit] = true
		}
	}
	if len(was) == 1 {
		o.Was = slices.Collect(maps.Keys(was))[0]
	}
	o.Departing = p.Runs() && (slices.Contains(m.Departed, o.Was) || p.Leaving &&
		slices.Contains(m.DepartedEarlier, o.Was))
	o.Stale = m.Goal != nil && len(m.Unpublished()) == 0 && m.oneCluster(d) && !(p.Runs() && m.HasAddress(p.Address)) &&
		!o.Departing
	return o
}

// HasAddress reports whether another unit of the model publishes the address.
func (m Application) HasAddress(address string) bool {
	return slices.ContainsFunc(m.PeerAddresses(), func(a netip.Addr) bool { return a.String() == ovndb.HostOf(address) })
}

// PeerAddresses returns the addresses that other units publish, ordered by the units' numbers.
func (m Application) PeerAddresses() (all []netip.Addr) {
	for _, unit := range m.Others() {
		if address := m.Peers[unit].State.Address; address.IsValid() {
			all = append(all, address)
		}
	}
	return all
}

// staleIdentity reports whether a published identity is known to be no member's any more. A unit whose server was
// removed joins again with another server, and publishes the old identity until its hook has succeeded.
func (m Application) staleIdentity(d ovndb.Database, id raft.ID) bool {
	members := m.Members[d]
	return !m.History[d][id].Removed.IsZero() || len(members) > 0 && !slices.Contains(members, id.Short())
}

// oneCluster reports whether all units publish the same cluster of a database. With two clusters, a member without a
// unit in one cluster may belong to a unit in the other.
func (m Application) oneCluster(d ovndb.Database) bool {
	clusters := map[raft.ID]bool{}
	for _, unit := range m.Published {
		if id := unit[d].Cluster; id != "" {
			clusters[id] = true
		}
	}
	return len(clusters) <= 1
}

// Unpublished finds the units of the model that have not published a member's identity for each database.
func (m Application) Unpublished() (all []finding.Finding) {
	for _, unit := range slices.SortedFunc(maps.Keys(m.Goal), unitname.Compare) {
		missing := finding.Subject{Name: unit}
		for _, d := range ovndb.Databases() {
			if m.Published[unit][d].Server == "" {
				missing.Databases = append(missing.Databases, d)
			}
		}
		if len(missing.Databases) > 0 {
			all = append(all, finding.New(finding.NotPublished, missing, finding.Args{}))
			continue
		}
		for _, d := range ovndb.Databases() {
			if id := m.Published[unit][d].Server; m.staleIdentity(d, id) {
				all = append(all, finding.New(finding.IdentityOutdated, finding.Subject{Name: unit, Databases: []ovndb.Database{d}},
					finding.Args{Member: finding.Server{ID: string(id)}}))
			}
		}
	}
	return all
}

// ServersOf returns the servers that a unit publishes or once published.
func (m Application) ServersOf(d ovndb.Database, unit string) []raft.ID {
	var ids []raft.ID
	if id := m.Published[unit][d].Server; id != "" {
		ids = append(ids, id)
	}
	for id, known := range m.History[d] {
		if known.Unit == unit {
			ids = append(ids, id)
		}
	}
	return ids
}

// IsPublished reports whether a unit of the model publishes the server now.
func (m Application) IsPublished(d ovndb.Database, id raft.ID) bool {
	for _, unit := range m.Published {
		if unit[d].Server == id {
			return true
		}
	}
	return false
}

// LastUnit returns the unit that has or had the member; empty if unknown.
func (m Application) LastUnit(d ovndb.Database, p raft.Peer) string {
	o := m.Owner(d, p)
	return cmp.Or(o.Unit, o.Was)
}

// Names returns all full IDs known for a database.
func (m Application) Names(d ovndb.Database) []raft.ID { return slices.Sorted(maps.Keys(m.History[d])) }

// OtherCharms returns the versions of the charm that other units publish, without this unit's version.
func (m Application) OtherCharms() (all []string) {
	for _, unit := range m.Others() {
		if charm := m.Peers[unit].State.Charm; charm != "" && charm != m.Charm {
			all = append(all, charm)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
