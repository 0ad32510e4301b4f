package plan_test

import (
	"errors"
	"maps"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// hook is a running hook. Other hooks may run between two of its steps.
type hook struct {
	asked
	made map[string]bool
}

// begin starts a hook on a unit that is running none.
func (w *world) begin(u *unit) {
	u.hook, u.deposed = &hook{asked: w.ask(u), made: map[string]bool{}}, false
}

// advance makes a hook's next step, or ends it.
func (w *world) advance(u *unit) {
	h := u.hook
	s := w.state(u, h.asked)
	d := plan.Decide(s)
	for _, name := range d.Rules {
		w.rules[name] = true
	}
	w.judge(u, s, d)
	if d.Step == nil || h.made[d.Step.String()] {
		w.end(u)
		return
	}
	h.made[d.Step.String()] = true
	err := w.make(u, *d.Step)
	w.say("%s: %s: %v, by rule %q", u.name, d.Step, err, d.By)
	w.check()
	if err != nil {
		w.end(u)
	}
}

// end publishes the unit's state, unless the hook fails for another reason, and Juju drops the state.
func (w *world) end(u *unit) {
	if u.hook = nil; !w.calm && w.chance(10) {
		w.say("%s: its hook fails at the end", u.name)
		return
	}
	w.publish(u)
}

func (w *world) publish(u *unit) {
	p := plan.Peer{
		Unit: u.name, Data: published,
		UnitState: relation.UnitState{Source: u.source, Running: w.running(u)},
		Servers:   map[ovndb.Database]raft.ID{}, Clusters: map[ovndb.Database]raft.ID{},
	}
	p.Address, _ = netip.ParseAddr(u.address)
	for db, s := range u.files {
		if s.left {
			continue
		}
		if p.Servers[db] = s.id; !s.joining || !s.works() { // a file doesn't show whether its server has joined
			p.Clusters[db] = s.cluster.id
		}
	}
	if u.used != nil {
		p.Trusts, p.Issuer = u.used.Trusts, u.used.Issuer
	}
	u.published = &p
}

// upgraded is the reason to restart a service that runs older packages.
const upgraded = "upgrade"

// running returns the versions that a unit's services run, as far as the unit remembers: a service that started by
// itself may be newer.
func (w *world) running(u *unit) (all []ovndb.Version) {
	if len(u.files) < 2 {
		return nil
	}
	for _, service := range plan.RestartOrder() {
		version := ovndb.Version{OVN: u.version}
		if u.pending[service] == upgraded {
			version.OVN = older(u.version)
		}
		if !slices.Contains(all, version) {
			all = append(all, version)
		}
	}
	return all
}

func older(version string) string {
	if version == "dalmatian" {
		return "caracal"
	}
	return "bobcat"
}

// deliver shows a unit the published data of another one.
func deliver(to, from *unit) {
	if from.published != nil && to != from {
		to.seen[from.name] = *from.published
	}
}

var errRefused = errors.New("refused")

// make makes a step, as far as the world permits.
func (w *world) make(u *unit, s plan.Step) error {
	db := s.Database
	switch s.Kind {
	case plan.Install:
		u.installed, u.source, u.version = true, applied(u.hook.config.source), u.hook.config.source
	case plan.Upgrade:
		if !w.calm && w.chance(20) {
			return errors.New("the archive is not in reach")
		}
		u.source, u.version = applied(u.hook.config.source), u.hook.config.source
		for _, service := range plan.RestartOrder() {
			u.pending[service] = upgraded
		}
	case plan.TrustCA, plan.InstallCertificate, plan.DropCAs:
		w.certify(u, s.Kind)
	case plan.WriteDefaults:
		u.defaults = u.address
	case plan.ConfigureFirewall:
		u.firewall = rules(u.hook.asked)
	case plan.WriteNorthdParams:
		if u.params = northdParams(u, u.hook.asked); u.northd {
			u.pending[ovndb.Northd] = "units have come or gone"
		}
	case plan.StageCluster:
		u.staged[db] = w.newCluster(u.machine, db, s.Timer)
	case plan.PublishClusters:
		return w.claim(u, s)
	case plan.CommitCluster:
		if u.files[db] != nil || u.staged[db].cluster.id != w.settings.IDs[db] {
			w.fail("%s puts cluster %s into place over %v", u.name, u.staged[db].cluster.id.Short(), u.files[db])
		}
		u.files[db], u.staged[db] = u.staged[db], nil
	case plan.DiscardCluster:
		u.staged[db] = nil
	case plan.JoinCluster:
		return w.join(u, s)
	case plan.Leave:
		u.files[db].left = u.files[db].cluster.removed[u.files[db].id]
	case plan.ArchiveFile:
		w.archive(u, db)
	case plan.Start:
		var failures []error
		for _, service := range s.Services {
			failures = append(failures, w.startService(u, service))
		}
		return errors.Join(failures...)
	case plan.Restart:
		return w.restart(u, s.Service)
	case plan.ConfigureListeners, plan.SetElectionTimer, plan.ConvertSchema:
		return w.write(u, s)
	default:
		w.fail("unknown step %q", s.Kind)
	}
	return nil
}

func (w *world) certify(u *unit, kind plan.Kind) {
	connected := w.standing(u)
	next := *u.hook.issued
	if kind == plan.TrustCA {
		next = *u.used
	}
	if kind != plan.DropCAs && u.used != nil {
		next.Trusts = slices.Concat(u.used.Trusts, u.hook.issued.Trusts)
		slices.Sort(next.Trusts)
		next.Trusts = slices.Compact(next.Trusts)
	}
	u.used = &next
	for _, other := range connected {
		if !trusts(u.machine, other.machine) {
			w.fail("%s's %s ends its connection to %s", u.name, kind, other.name)
		}
	}
}

func (w *world) claim(u *unit, s plan.Step) error {
	if w.leader != u || u.deposed {
		return errors.New("not the leader")
	}
	w.settings = relation.Clusters{IDs: maps.Clone(s.IDs), CreatedBy: u.name}
	w.claims = append(w.claims, w.settings)
	u.hook.clusters = w.settings
	return nil
}

func (w *world) join(u *unit, s plan.Step) error {
	own := ovndb.RaftAddress(s.Database, u.address)
	switch {
	case u.files[s.Database] != nil:
		return errors.New("file exists")
	case s.Cluster != w.settings.IDs[s.Database], len(s.Remotes) == 0, slices.Contains(s.Remotes, own):
		w.fail("%s joins %q through %v", u.name, s.Cluster, s.Remotes)
	}
	joining := w.newServer(u.machine, w.clusters[s.Cluster])
	joining.joining, joining.remotes = true, s.Remotes
	u.files[s.Database] = joining
	return nil
}

// archive moves a file away. That violates a rule if a unit may need the file.
func (w *world) archive(u *unit, db ovndb.Database) {
	s := u.files[db]
	c := s.cluster
	if !s.left && !s.outside && (c.has(s) || c.adding == s || !s.joining || w.contact(s) != nil && w.contactKnown(u, s)) {
		w.fail("%s archives %s, which has not left", u.name, s.id.Short())
	}
	s.running = false
	delete(u.files, db)
}

// contactKnown reports whether the unit knows a member through which its server can still join.
func (w *world) contactKnown(u *unit, s *server) bool {
	return slices.ContainsFunc(u.hook.peers, func(p plan.Peer) bool {
		db := s.cluster.db
		return p.Clusters[db] == s.cluster.id && slices.Contains(s.remotes, ovndb.RaftAddress(db, p.Address.String()))
	})
}

func (w *world) startService(u *unit, service ovndb.Service) error {
	switch service {
	case ovndb.Northd:
		u.northd = true
	case ovndb.Umbrella:
		u.boots = true
	default:
		s := u.files[serves(service)]
		if s == nil || s.left || s.outside {
			w.fail("%s starts %s without a file that it can serve", u.name, service)
			return errRefused
		}
		if u.version < s.cluster.schema {
			w.fail("%s starts %s of %s on a file of %s", u.name, service, u.version, s.cluster.schema)
		}
		delete(u.pending, service)
		if !w.calm && w.chance(15) {
			return errors.New("it does not start")
		}
		w.start(s)
		for range 2 {
			if w.calm || w.chance(70) {
				w.progress(s)
			}
		}
	}
	return nil
}

func serves(service ovndb.Service) ovndb.Database {
	if service == ovndb.SouthboundServer {
		return ovndb.SB
	}
	return ovndb.NB
}

// restart stops and starts a server; its peers must work without it meanwhile.
func (w *world) restart(u *unit, service ovndb.Service) error {
	if service == ovndb.Northd {
		delete(u.pending, service)
		return nil
	}
	s := u.files[serves(service)]
	if c := s.cluster; s.works() && c.has(s) && len(c.members) > 1 {
		if w.leading(c) == nil || c.others(s) < raft.Majority(len(c.members)) && len(c.members) > 2 {
			return errRefused
		}
		if c.leader == s {
			c.leader, c.adding = nil, nil
		}
	}
	delete(u.pending, service)
	w.start(s)
	return nil
}

// write makes the steps that only a database's leader may make.
func (w *world) write(u *unit, s plan.Step) error {
	c := u.files[s.Database].cluster
	if w.leading(c) != u.files[s.Database] {
		return errors.New("not the database's leader")
	}
	switch s.Kind {
	case plan.ConfigureListeners:
		c.probe = u.hook.config.probe
	case plan.ConvertSchema:
		for _, m := range c.members {
			if other := m.machine.unit; other != nil && m.machine.files[c.db] == m && m.runs < u.version {
				w.fail("%s converts %s to %s, and %s runs %s", u.name, c.db.Short(), u.version, other.name, m.runs)
			}
		}
		c.schema = u.version
	case plan.SetElectionTimer:
		if s.Timer > 2*c.timer {
			w.fail("%s sets the election timer from %s to %s", u.name, c.timer, s.Timer)
		}
		c.timer = s.Timer
	}
	return nil
}
