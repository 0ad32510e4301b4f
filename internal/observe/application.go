package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Application is what Juju, the units' published data and this unit's memory tell of
// the application.
type Application struct {
	// Unit is this unit, Version that of the Juju that runs it: of commands that are printed.
	Unit    string
	Version juju.Version
	// Goal are the units that are to exist; nil where Juju could not be asked.
	Goal map[string]juju.UnitGoal
	// Remote are the units of other applications, by this application's endpoint.
	Remote map[string]map[string]juju.UnitGoal
	// Peers are what the other units have published on the peer relation, beside the
	// identities of their servers. A unit that is not in it was not read.
	Peers map[string]Peer
	// AppData is what the leaders have published there for the application, whole.
	AppData relation.Data
	// Unread is why Juju could not be asked for all that it knows; nil where it
	// could. What is missing then must not be taken for something that is not there.
	Unread error
	// Published are the identities of the units that exist, this one included.
	Published relation.UnitIdentities
	// Members are the identities in the committed configuration of each database, as
	// this unit's server has last seen it.
	Members map[ovndb.Database][]string
	// Places are where the other units are, as far as they have said so.
	Places map[string]Place
	// Former are the servers on this machine that are another unit's ([formerServers]).
	Former map[ovndb.Database]FormerServer
	// Departed are the units that were in the model some minutes ago and may still be leaving;
	// DepartedEarlier also those that may be only where their leave is noted.
	Departed, DepartedEarlier []string
	// History remembers the servers of units that may be gone.
	History relation.History
	// Relations are the peer relation's IDs. It is empty in the hook stop of a
	// unit whose agent has restarted since it joined.
	Relations []string
	// Problems are what was wrong with what others publish.
	Problems []string
}

// Peer is what another unit has published, parsed once. Its data are unread in the zero
// value, which says nothing.
type Peer struct {
	relation.Data
	State relation.UnitState
	// Problems are what of it is malformed, and left out of State.
	Problems []string
}

// readApplication asks Juju. Where the peer relation is gone, or a call fails, what
// this unit remembers takes its place: `stop` and what is reported may depend on no
// relation (rule R9). What decides on anything else looks at Unread first.
func readApplication(ctx context.Context, tools *juju.Tools, env juju.Env, cache Cache) Application {
	m := Application{Unit: env.Unit, Version: env.Version, Peers: map[string]Peer{}, Published: relation.UnitIdentities{}, History: cache.History}
	note := func(err error) {
		if err != nil {
			m.Problems = append(m.Problems, err.Error())
			m.Unread = cmp.Or(m.Unread, err)
		}
	}
	goal, err := tools.GoalState(ctx)
	note(err)
	if err == nil {
		m.Goal, m.Remote = goal.Units, goal.Relations
	}
	m.Relations, err = tools.RelationIDs(ctx, relation.Peer)
	note(err)
	for _, id := range m.Relations {
		note(m.readRelation(ctx, tools, env, id))
	}
	// A unit that is being removed has left the relation, and is a member until
	// it has left the clusters too.
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

// publish adds what this unit itself publishes. A snapshot before has the same map.
func (m *Application) publish(own relation.Identities) {
	m.Published = maps.Clone(m.Published)
	m.Published[m.Unit] = own
	m.History = m.History.Publish(m.Published)
}

// readRelation reads what the other units have published on the peer relation. Juju hides a unit that is being removed
// from the list of the relation's units, but not its data (relation hooks of a dying unit; state/relationunit.go,
// PrepareLeaveScope); Juju 4 continues to list units that are gone.
func (m *Application) readRelation(ctx context.Context, tools *juju.Tools, env juju.Env, id string) error {
	// Each unit that is listed and exists is in the goal state.
	units := m.Others()
	if m.Goal == nil {
		var err error
		if units, err = tools.RelationUnits(ctx, id); err != nil {
			return err
		}
	}
	for _, unit := range units {
		databag, err := tools.RelationGet(ctx, id, unit)
		if errors.Is(err, juju.ErrNotFound) { // it has yet to join
			databag, err = nil, nil
		}
		if err != nil {
			// Juju 4 has other words for a unit that has yet to join, or has left already.
			listed, unlisted := tools.RelationUnits(ctx, id)
			if unlisted != nil || slices.Contains(listed, unit) {
				return err
			}
			continue
		}
		m.read(unit, databag)
	}
	databag, err := tools.RelationGetApp(ctx, id, env.App)
	if err != nil { // the relation was just listed: so its data are there
		return err
	}
	m.AppData = relation.Read(databag)
	history, problems := relation.ParseHistory(databag)
	for _, p := range problems {
		m.Problems = append(m.Problems, "the application's data are damaged: "+p)
	}
	m.History = m.History.Merge(history)
	return nil
}

func (m *Application) read(unit string, databag map[string]string) {
	published, problems := relation.ParseIdentities(databag)
	for _, p := range problems {
		m.Problems = append(m.Problems, fmt.Sprintf("%s published invalid data: %s", unit, p))
	}
	p := Peer{Data: relation.Read(databag)}
	p.State, p.Problems = relation.ParseUnitState(databag)
	m.Peers[unit] = p
	if !p.Empty() { // else what is remembered of it stays
		m.Published[unit] = published
	}
}

// Exists says whether the unit is in the model; true where that is not known.
func (m Application) Exists(unit string) bool {
	_, found := m.Goal[unit]
	return found || m.Goal == nil
}

// Dying says whether the unit is being removed.
func (m Application) Dying(unit string) bool { return juju.GoalState{Units: m.Goal}.Dying(unit) }

// Goes says whether every unit is being removed, this one too: each stops its servers when it
// goes, none leaves its clusters, and the data stay.
func (m Application) Goes() bool { return m.Dying(m.Unit) && !m.OthersStay() }

// OthersStay says whether another unit exists that is not being removed. Where
// Juju could not be asked, others stay.
func (m Application) OthersStay() bool { return OthersStay(m.Goal, m.Unit) }

// OthersStay is [Application.OthersStay] where only goal-state is at hand; nil, since Juju could
// not be asked, means that others stay.
func OthersStay(goal map[string]juju.UnitGoal, unit string) bool {
	if goal == nil {
		return true
	}
	for other := range goal {
		if other != unit && !(juju.GoalState{Units: goal}).Dying(other) {
			return true
		}
	}
	return false
}

// KnowsPeers reports whether anything is known of the other units: what they publish, or that there is none.
func (m Application) KnowsPeers() bool {
	others := m.Others()
	if len(others) == 0 {
		return m.Goal != nil && len(m.Relations) > 0
	}
	return slices.ContainsFunc(others, func(unit string) bool {
		return len(m.Published[unit]) > 0 || !m.Peers[unit].Unread() && !m.Peers[unit].Empty()
	})
}

// Others are the other units that exist, in the order of their numbers. Where
// Juju could not be asked, they are those that this unit knows of.
func (m Application) Others() []string {
	known := slices.Collect(maps.Keys(m.Goal))
	if m.Goal == nil {
		known = m.Published.Names()
	}
	known = slices.DeleteFunc(known, func(unit string) bool { return unit == m.Unit })
	slices.SortFunc(known, unitname.Compare)
	return known
}

// Owner says whose server a member is.
type Owner struct {
	// Unit is the unit of the model that has published the member's ID.
	Unit string
	// Was is the unit that once published it, where that is no unit's of the
	// model now.
	Was string
	// Stale (rule R16): every unit of the model has published both identities, in
	// one cluster, all of them are members, and none of them is this one. Only then may
	// a kick of it be advised. One that is up at the address of a unit's own server
	// is not: that unit may have yet to say that it has joined anew. Nor is one that is up
	// and whose unit has just been removed: it may be leaving. Where its leave is noted (rule
	// R5) it may be for as long as the hook that has noted it may run.
	Stale bool
	// Departing says that the member is up, and its unit has just been removed.
	Departing bool
}

// Owner finds the unit of a member.
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
	o.Departing = p.Runs() && (slices.Contains(m.Departed, o.Was) || p.Leaving && slices.Contains(m.DepartedEarlier, o.Was))
	o.Stale = m.Goal != nil && len(m.Unpublished()) == 0 && m.oneCluster(d) && !(p.Runs() && m.HasAddress(p.Address)) && !o.Departing
	return o
}

// HasAddress says whether another unit of the model has the address, by what it publishes.
func (m Application) HasAddress(address string) bool {
	return slices.ContainsFunc(m.PeerAddresses(), func(a netip.Addr) bool { return a.String() == ovndb.HostOf(address) })
}

// PeerAddresses are those that other units have published, in the order of their numbers.
func (m Application) PeerAddresses() (all []netip.Addr) {
	for _, unit := range m.Others() {
		if address := m.Peers[unit].State.Address; address.IsValid() {
			all = append(all, address)
		}
	}
	return all
}

// staleIdentity says why an identity that is published is no member's any more; empty where
// it is one's, or that is not known. A unit whose server was removed joins again with
// another, and until its hook has ended well it publishes the one from before.
func (m Application) staleIdentity(d ovndb.Database, id raft.ID) string {
	if known := m.History[d][id]; !known.Removed.IsZero() {
		return "was removed"
	}
	if members := m.Members[d]; len(members) > 0 && !slices.Contains(members, id.Short()) {
		return "is no member"
	}
	return ""
}

// oneCluster says whether all units publish one cluster of a database. Where there
// are two, what is no unit's in one may be a unit's in the other.
func (m Application) oneCluster(d ovndb.Database) bool {
	clusters := map[raft.ID]bool{}
	for _, unit := range m.Published {
		if id := unit[d].Cluster; id != "" {
			clusters[id] = true
		}
	}
	return len(clusters) <= 1
}

// Unpublished lists the units of the model that have not published an identity of a
// member for each database, with what is missing.
func (m Application) Unpublished() []string {
	var all []string
	for _, unit := range slices.SortedFunc(maps.Keys(m.Goal), unitname.Compare) {
		var missing []string
		for _, d := range ovndb.Databases() {
			if m.Published[unit][d].Server == "" {
				missing = append(missing, d.Short())
			}
		}
		if len(missing) > 0 {
			all = append(all, fmt.Sprintf("%s has published no %s identity", unit, strings.Join(missing, " and no ")))
			continue
		}
		for _, d := range ovndb.Databases() {
			id := m.Published[unit][d].Server
			if why := m.staleIdentity(d, id); why != "" {
				all = append(all, fmt.Sprintf("%s publishes %s identity %s, which %s", unit, d.Short(), id.Short(), why))
			}
		}
	}
	return all
}

// UnitOf is the unit that publishes a server, or once has; empty where none is known.
func (m Application) UnitOf(d ovndb.Database, id raft.ID) string {
	return m.LastUnit(d, raft.Peer{Member: raft.Member{Short: id.Short()}, ID: id})
}

// ServersOf lists the servers that a unit publishes or once has published.
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

// IsPublished says whether a unit of the model has the server now.
func (m Application) IsPublished(d ovndb.Database, id raft.ID) bool {
	for _, unit := range m.Published {
		if unit[d].Server == id {
			return true
		}
	}
	return false
}

// LastUnit is the unit that has or had the member; empty if none is known.
func (m Application) LastUnit(d ovndb.Database, p raft.Peer) string {
	o := m.Owner(d, p)
	return cmp.Or(o.Unit, o.Was)
}

// Names are all full IDs known for a database.
func (m Application) Names(d ovndb.Database) []raft.ID {
	names := slices.Collect(maps.Keys(m.History[d]))
	slices.Sort(names)
	return names
}
