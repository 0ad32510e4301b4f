package plan_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// event can happen at any time, to any unit.
type event struct {
	name string
	// weight is the event's relative frequency.
	weight int
	happen func(w *world, u *unit)
}

var events = []event{
	{"hook", 30, func(w *world, u *unit) {
		if u.hook == nil {
			w.begin(u)
		}
		for n := w.rand.IntN(12); n > 0 && u.hook != nil; n-- {
			w.advance(u)
		}
	}},
	{"step", 30, func(w *world, u *unit) {
		if u.hook != nil {
			w.advance(u)
		}
	}},
	{"delivery", 20, func(w *world, u *unit) {
		if from, ok := pick(w, w.units); ok {
			deliver(u, from)
		}
	}},
	{"certificate", 12, (*world).issue},
	{"raft", 12, func(w *world, _ *unit) { w.progressAll() }},
	{"leader", 6, (*world).lead},
	{"killed", 4, func(w *world, u *unit) {
		if u.hook != nil {
			w.say("%s: its hook is killed", u.name)
			u.hook = nil
		}
	}},
	{"election", 3, func(_ *world, u *unit) {
		for _, s := range u.files {
			if c := s.cluster; c.has(s) && c.hasMajority(s) {
				c.leader, c.adding = s, nil
			}
		}
	}},
	{"config", 4, (*world).reconfigure},
	{"CA", 1, func(w *world, _ *unit) {
		if w.ca < 2 {
			w.ca++
			w.say("the provider has a new CA, %s", w.caName())
		}
	}},
	{"down", 4, (*world).takeDown},
	{"disk", 1, func(w *world, u *unit) {
		if s := u.files[ovndb.SB]; s != nil && s.works() {
			s.failed = true
			w.say("%s: the disk is full", u.name)
		}
	}},
	{"pause", 2, (*world).pause},
	{"remove", 3, (*world).remove},
	{"replace", 1, (*world).replace},
	{"add", 2, (*world).add},
	{"destroy", 1, (*world).destroy},
	{"kick", 3, func(w *world, u *unit) {
		db := ovndb.Databases()[w.rand.IntN(2)]
		if s := u.files[db]; s != nil && !s.joining && (!s.works() || w.chance(20)) {
			w.kick(s)
		}
	}},
	{"kick of stale members", 2, func(w *world, _ *unit) { w.kickStale() }},
}

// happen runs one random event.
func (w *world) happen() {
	total := 0
	for _, e := range events {
		total += e.weight
	}
	u, ok := pick(w, w.units)
	if !ok {
		w.add(nil)
		return
	}
	n := w.rand.IntN(total)
	for _, e := range events {
		if n -= e.weight; n < 0 {
			e.happen(w, u)
			break
		}
	}
	w.check()
}

func (w *world) caName() string { return fmt.Sprintf("CA%d", w.ca) }

// issue gives a unit a certificate of the present CA, now and then an unusable one.
func (w *world) issue(u *unit) {
	w.serial++
	u.issued = &plan.Certificate{
		Fingerprint: fmt.Sprintf("cert%d", w.serial), Issuer: w.caName(), Trusts: []string{w.caName()},
		NotAfter: noon.AddDate(1, 0, 0),
	}
	if !w.calm && w.chance(20) {
		u.issued.Problem = finding.Reason{Code: finding.CertificateLacks, Name: "10.9.9.9", Value: u.address}
	}
	w.say("%s: %s is issued by %s: %s", u.name, u.issued.Fingerprint, u.issued.Issuer, u.issued.Problem)
}

func (w *world) lead(u *unit) {
	if u == w.leader || u.deposed {
		return // it was the leader when its hook began, and does not become it again so soon
	}
	if w.leader != nil && w.leader.hook != nil {
		w.leader.deposed = true
	}
	w.leader = u
	w.say("%s leads", u.name)
}

func (w *world) reconfigure(*unit) {
	c := &w.config
	switch w.rand.IntN(5) {
	case 0:
		c.timer = time.Duration(1+w.rand.IntN(60)) * time.Second
	case 1:
		c.probe = time.Duration(1+w.rand.IntN(60)) * time.Second
	case 2:
		c.bad = !c.bad
	case 3:
		c.held = !c.held
	case 4:
		if c.source == "caracal" {
			c.source = "dalmatian"
		}
	}
	w.say("config: %+v", *c)
}

// takeDown stops a machine or one of its servers; it may return by itself.
func (w *world) takeDown(u *unit) {
	reboot := w.chance(50)
	for _, db := range ovndb.Databases() {
		if s := u.files[db]; s != nil && (reboot || w.chance(50)) {
			s.running, s.outside = false, s.outside || s.cluster.adding == s && w.chance(50)
			if w.chance(50) && !s.left && !s.outside && u.boots && !u.paused {
				w.start(s)
			}
		}
	}
	if reboot {
		u.hook, u.northd = nil, u.boots
	}
	w.say("%s: servers go down, reboot=%v", u.name, reboot)
}

func (w *world) pause(u *unit) {
	if u.paused = !u.paused; u.paused {
		for _, s := range u.files {
			s.running = false
		}
		u.northd = false
	}
	u.hook = nil
	w.say("%s: paused=%v", u.name, u.paused)
}

// progressAll lets the clusters work for a while.
func (w *world) progressAll() {
	for _, m := range w.machines {
		for _, db := range ovndb.Databases() {
			if s := m.files[db]; s != nil && (w.calm || w.chance(60)) {
				w.progress(s)
			}
		}
	}
	for _, id := range w.ids() {
		if c := w.clusters[id]; c.adding != nil && (w.calm || w.chance(40)) {
			w.progress(c.adding)
		}
	}
}

func (w *world) ids() []raft.ID {
	var all []raft.ID
	for id := range w.clusters {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// add adds a unit, on a new machine or on the machine of a removed unit.
func (w *world) add(*unit) {
	if len(w.units) > 5 {
		return
	}
	var left []*machine
	for _, m := range w.machines {
		if m.unit == nil {
			left = append(left, m)
		}
	}
	m, ok := pick(w, left)
	if !ok || w.chance(30) {
		m = w.newMachine()
	}
	u := w.addUnit(m)
	if w.leader == nil {
		w.leader = u
	}
	w.say("%s is added at %s", u.name, m.address)
}

// remove plays `juju remove-unit`, or, if the unit is already dying, its `stop`.
func (w *world) remove(u *unit) {
	if !u.dying {
		if staying := w.staying(); len(staying) > 1 && w.begun() {
			u.dying = true
			w.say("%s is dying", u.name)
		}
		return
	}
	if u.hook != nil || !w.mayStop(u) {
		return
	}
	for _, db := range ovndb.Databases() {
		s := u.files[db]
		if s == nil {
			continue
		}
		if c := s.cluster; c.has(s) && s.works() {
			c.members = slices.DeleteFunc(slices.Clone(c.members), func(m *server) bool { return m == s })
			c.removed[s.id] = true
			s.left = true
		}
		s.running = false
		if s.left && w.chance(50) {
			delete(u.files, db) // archived; otherwise the machine went first
		}
	}
	w.gone(u)
}

// destroy plays `juju remove-unit --force`: none of the unit's servers leaves. An operator does it only if enough
// other units have servers, and can start them again.
func (w *world) destroy(u *unit) {
	for _, db := range ovndb.Databases() {
		s := u.files[db]
		if s == nil {
			continue
		}
		n := 0
		for _, m := range s.cluster.members {
			if m != s && m.machine.unit != nil && m.machine.files[db] == m && !m.outside {
				n++
			}
		}
		if n < raft.Majority(len(s.cluster.members)) || s.cluster.adding == s {
			return
		}
	}
	if staying := w.staying(); len(staying) == 0 || staying[0] == u || !w.settled(u) {
		return
	}
	for _, s := range u.files {
		s.running = false
	}
	w.say("%s is destroyed", u.name)
	w.gone(u)
}

// replace replaces all units. It adds the new ones first, or first removes as many old ones as an operator would.
func (w *world) replace(*unit) {
	old := w.staying()
	if len(w.units) > 3 || !w.begun() {
		return
	}
	w.say("all units are replaced")
	for range old {
		w.add(nil)
	}
	for _, u := range old {
		w.remove(u)
	}
}

// begun reports whether the clusters run; the unit that has claimed them is not removed before.
func (w *world) begun() bool {
	for _, db := range ovndb.Databases() {
		if c := w.clusters[w.settings.IDs[db]]; c != nil && !c.started {
			return false
		}
	}
	return true
}

func (w *world) staying() []*unit {
	return slices.DeleteFunc(slices.Clone(w.units), func(u *unit) bool { return u.dying })
}

// settled reports whether the application would survive the unit's sudden loss.
func (w *world) settled(u *unit) bool {
	for _, db := range ovndb.Databases() {
		c := w.clusters[w.settings.IDs[db]]
		if c != nil && (!c.started || len(c.members) == 1 && c.members[0] == u.files[db]) {
			return false
		}
	}
	return true
}

// mayStop makes the check of `stop` before it leaves (R1, R9).
func (w *world) mayStop(u *unit) bool {
	for _, s := range u.files {
		c := s.cluster
		if c.adding == s {
			return false
		}
		if !c.has(s) || s.outside { // it can't be started: an operator has to kick the member
			continue
		}
		if !w.follows(s) || len(c.members) == 1 || c.others(s) < raft.Majority(len(c.members)-1) || c.adding != nil {
			return false
		}
	}
	return true
}

func (w *world) gone(u *unit) {
	u.machine.unit, u.northd, u.boots = nil, false, false
	w.units = slices.DeleteFunc(w.units, func(o *unit) bool { return o == u })
	for _, other := range w.units {
		delete(other.seen, u.name)
	}
	if w.leader == u {
		w.leader, _ = pick(w, w.units)
	}
	w.say("%s is gone", u.name)
}
