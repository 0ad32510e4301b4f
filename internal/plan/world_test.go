package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// world is a model of an application: its units on their machines, the clusters of their servers, Juju and the provider
// of certificates. rand decides the order of events.
type world struct {
	rand   *rand.Rand
	config config
	// leader is the only unit that can write settings, the leader settings.
	leader   *unit
	settings relation.Clusters
	claims   []relation.Clusters
	units    []*unit
	machines []*machine
	clusters map[raft.ID]*cluster
	// ca is the CA that the provider uses.
	ca     int
	serial int
	// tell turns on the log of events.
	tell bool
	log  []string
	// calm: no more faults.
	calm bool
	// broken is the first violated rule of the model; rules are the rules of the table that have applied.
	broken string
	rules  map[string]bool
}

// config holds the options.
type config struct {
	timer  time.Duration
	probe  time.Duration
	source string
	// bad: one option is invalid.
	bad, held bool
}

// machine is the state that outlives a unit.
type machine struct {
	address         string
	installed       bool
	source, version string
	files, staged   map[ovndb.Database]*server
	used            *plan.Certificate
	defaults        string
	params          string
	firewall        string
	northd, boots   bool
	pending         map[ovndb.Service]string
	paused          bool
	unit            *unit
}

// unit is a unit of the model.
type unit struct {
	*machine
	name   string
	dying  bool
	issued *plan.Certificate
	// published is the data that its peers can read, seen the data that it has read of each peer.
	published *plan.Peer
	seen      map[string]plan.Peer
	hook      *hook
	// deposed: it lost the leadership while its hook runs.
	deposed bool
}

func newWorld(seed uint64, units int) *world {
	w := &world{
		rand: rand.New(rand.NewPCG(seed, 1)), clusters: map[raft.ID]*cluster{}, rules: map[string]bool{},
		config: config{timer: 4 * time.Second, probe: time.Minute, source: "caracal"},
	}
	for range units {
		w.addUnit(w.newMachine())
	}
	w.leader = w.units[w.rand.IntN(len(w.units))]
	return w
}

func (w *world) newMachine() *machine {
	m := &machine{
		address: fmt.Sprintf("10.0.0.%d", len(w.machines)+1), pending: map[ovndb.Service]string{},
		files: map[ovndb.Database]*server{}, staged: map[ovndb.Database]*server{},
	}
	w.machines = append(w.machines, m)
	return m
}

func (w *world) addUnit(m *machine) *unit {
	w.serial++
	u := &unit{machine: m, name: fmt.Sprintf("ovn-central/%d", w.serial), seen: map[string]plan.Peer{}}
	m.unit, m.paused, m.pending = u, false, map[ovndb.Service]string{}
	w.units = append(w.units, u)
	return u
}

// id makes an ID with unique first four digits.
func (w *world) id() raft.ID {
	w.serial++
	return raft.ID(fmt.Sprintf("%04x0000-0000-4000-8000-000000000000", w.serial))
}

// say logs an event if the log is on.
func (w *world) say(format string, args ...any) {
	if w.tell {
		w.log = append(w.log, fmt.Sprintf(format, args...))
	}
}

// fail records the first violated rule.
func (w *world) fail(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
		w.say("BROKEN: %s", w.broken)
	}
}

func (w *world) chance(percent int) bool { return w.rand.IntN(100) < percent }

func pick[T any](w *world, all []T) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[w.rand.IntN(len(all))], true
}

// asked is Juju's answer when a hook begins; it is kept until the hook ends.
type asked struct {
	leader   bool
	clusters relation.Clusters
	peers    []plan.Peer
	members  map[ovndb.Database][]string
	config   config
	issued   *plan.Certificate
}

func (w *world) ask(u *unit) asked {
	a := asked{leader: w.leader == u, clusters: w.settings, members: w.members(), config: w.config, issued: u.issued}
	for _, other := range w.units {
		if other == u {
			continue
		}
		a.peers = append(a.peers, w.read(u, other))
	}
	return a
}

// read returns the data that a unit reads of another. Juju shows nothing new about a unit that is being removed: its
// data if it is read by name, the data that was read before, or nothing if the unit has left the relation.
func (w *world) read(u, other *unit) plan.Peer {
	p, seen := u.seen[other.name]
	if other.dying && !seen && w.chance(50) {
		if seen = other.published != nil; seen {
			p = *other.published
		}
	}
	switch {
	case seen:
	case other.dying && w.chance(50):
		p.Data = relation.Data{}
	default:
		p.Data = relation.Read(nil)
	}
	p.Unit, p.Dying = other.name, other.dying
	return p
}

// members returns the Raft addresses of the members of the application's clusters.
func (w *world) members() map[ovndb.Database][]string {
	all := map[ovndb.Database][]string{}
	for _, db := range ovndb.Databases() {
		if c := w.clusters[w.settings.IDs[db]]; c != nil {
			for _, m := range c.members {
				all[db] = append(all[db], m.raftAddress())
			}
		}
	}
	return all
}

// state returns a unit's observation of itself.
func (w *world) state(u *unit, a asked) plan.State {
	s := plan.State{
		Now: noon, Unit: u.name, JujuLeader: a.leader, Dying: u.dying, Address: u.address, Paused: u.paused,
		Pending: u.pending,
		Settings: plan.Settings{
			Source: a.config.source, ElectionTimer: a.config.timer, InactivityProbe: a.config.probe,
			AutoRestarts: !a.config.held,
		},
		Packages: plan.Packages{Installed: u.installed, Source: u.source, Version: ovndb.Version{OVN: u.version}},
		Services: map[ovndb.Service]plan.ServiceState{
			ovndb.Northd: {Active: u.northd}, ovndb.Umbrella: {Active: u.boots, Enabled: u.boots},
		},
		Certificates: plan.Certificates{Related: true, Provider: "vault/0", Issued: a.issued, Used: u.used},
		Clusters:     a.clusters, Peers: a.peers, Members: a.members, Units: len(a.peers) + 1,
		Defaults:     wanted(u.defaults, u.address, ""),
		NorthdParams: wanted(u.params, northdParams(u, a), "needs a restart"),
		Firewall:     wanted(u.firewall, rules(a), ""),
		Databases:    map[ovndb.Database]plan.Database{},
	}
	if a.config.bad {
		s.Invalid = map[string]finding.Args{plan.OptionElectionTimer: {Value: "0"}}
	}
	for _, other := range w.units {
		if other.northd {
			s.Northds = plan.Northd{Found: plan.NorthdActive, Unit: other.name}
		}
	}
	for _, db := range ovndb.Databases() {
		s.Databases[db] = w.database(u, a, db)
	}
	return s
}

func wanted(have, want, restart string) plan.Drift {
	switch {
	case have == want:
		return plan.InSync
	case have != "" && restart != "":
		return plan.NeedsRestart
	}
	return plan.Drifted
}

func northdParams(u *unit, a asked) string {
	all := []string{u.address}
	for _, p := range a.peers {
		if p.Address.IsValid() && len(p.Servers) == 2 {
			all = append(all, p.Address.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

func rules(a asked) string {
	all := []string{"peers"}
	for _, p := range a.peers {
		if p.Address.IsValid() {
			all = append(all, p.Address.String())
		}
	}
	return strings.Join(all, ",")
}

func (w *world) database(u *unit, a asked, db ovndb.Database) plan.Database {
	x := plan.Database{Condition: ovndb.Absent}
	if staged := u.staged[db]; staged != nil {
		x.Staged = staged.cluster.id
	}
	s := u.files[db]
	if s == nil {
		return x
	}
	x.Cluster = s.cluster.id
	x.File = plan.File{Address: s.raftAddress(), Outside: s.outside}
	switch {
	case s.left:
		x.Condition = ovndb.Left
	case s.running && s.failed:
		x.Condition, x.Why = ovndb.Failed, finding.Quote("the server runs but has given up the database")
	case !s.running:
		x.Condition, x.Why = ovndb.Down, finding.Quote("the server is not running")
	default:
		x.Condition, x.Status = ovndb.Serving, w.status(s)
		x.Removed = s.cluster.removed[s.id]
		x.ClientsServed = x.MemberWithLeader() && s.cluster.probe != 0
		if x.IsRaftLeader() {
			x.Listeners = wanted(s.cluster.probe.String(), a.config.probe.String(), "")
		}
		if x.MemberWithLeader() && s.cluster.schema < u.version {
			x.Schema = plan.Drifted
		}
	}
	return x
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// check reports whether the world fulfils its invariants.
func (w *world) check() {
	for _, db := range ovndb.Databases() {
		started := 0
		for _, id := range w.ids() {
			if c := w.clusters[id]; c.db == db && c.started {
				started++
			}
		}
		if started > 1 {
			w.fail("%s: %d clusters have been started", db.Short(), started)
		}
	}
	if len(w.claims) > 1 {
		w.fail("clusters were claimed %d times", len(w.claims))
	}
}

// standing returns the units to which a unit's member is connected, and that it knew when its hook began.
func (w *world) standing(u *unit) []*unit {
	var all []*unit
	for _, p := range u.hook.peers {
		other := w.named(p.Unit)
		for _, db := range ovndb.Databases() {
			a, b := u.files[db], (*server)(nil)
			if other != nil {
				b = other.files[db]
			}
			if a != nil && b != nil && a.cluster.has(a) && b.cluster.has(b) && p.Servers[db] == b.id && connected(a, b) {
				all = append(all, other)
			}
		}
	}
	return all
}

func (w *world) named(name string) *unit {
	for _, u := range w.units {
		if u.name == name {
			return u
		}
	}
	return nil
}

// whileDying are the steps that a unit may make while it is being removed: it votes until it is gone.
var whileDying = []plan.Kind{plan.TrustCA, plan.InstallCertificate, plan.DropCAs}

// judge reports whether a decision is permitted in a state.
func (w *world) judge(u *unit, s plan.State, d plan.Decision) {
	switch {
	case d.Step != nil && !s.Problem.IsZero(), d.Step != nil && s.Dying && !slices.Contains(whileDying, d.Step.Kind):
		w.fail("%s is to %s, with problem %q, dying %v", u.name, d.Step, s.Problem, s.Dying)
	case d.Ready && (s.Paused || !w.serves(u)):
		w.fail("%s says that it is ready", u.name)
	}
	for _, f := range d.Findings {
		again := slices.ContainsFunc(f.Remedies, func(r finding.Remedy) bool { return r.Deed == finding.DeployAgain })
		if holder := w.holder(u); again && holder != "" {
			w.fail("%s has %s, and %s has a copy", u.name, findingtest.Brief(f), holder)
		}
	}
}

// holder returns a unit that has, or may have, a copy, according to what the other unit knew when its hook began.
func (w *world) holder(u *unit) string {
	for _, p := range u.hook.peers {
		other := w.named(p.Unit)
		for _, db := range ovndb.Databases() {
			if other == nil || other.files[db] == nil {
				continue
			}
			s := other.files[db]
			has := s.cluster.id == w.settings.IDs[db] && s.cluster.has(s)
			if has && (p.Dying || p.Clusters[db] == s.cluster.id || p.Data.Unread() || p.Data.Empty()) {
				return p.Unit
			}
		}
	}
	return ""
}

func (w *world) serves(u *unit) bool {
	for _, db := range ovndb.Databases() {
		if s := u.files[db]; s == nil || !s.works() || !w.follows(s) {
			return false
		}
	}
	return true
}
