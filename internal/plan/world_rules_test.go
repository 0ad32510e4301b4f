package plan_test

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

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

// standing are the units to which a unit's member is connected, and that it knew when its hook began.
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

// whileDying are the steps of a unit that is being removed: until it is gone, it votes.
var whileDying = []plan.Kind{plan.TrustCA, plan.InstallCertificate, plan.DropCAs}

// judge reports whether a decision is permitted in a state.
func (w *world) judge(u *unit, s plan.State, d plan.Decision) {
	switch {
	case d.Step != nil && s.Problem != "", d.Step != nil && s.Dying && !slices.Contains(whileDying, d.Step.Kind):
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

// holder is a unit that has, or may have, a copy, by what the other unit knew when its hook began.
func (w *world) holder(u *unit) string {
	for _, p := range u.hook.peers {
		other := w.named(p.Unit)
		for _, db := range ovndb.Databases() {
			if other == nil || other.files[db] == nil {
				continue
			}
			s := other.files[db]
			has := s.cluster.id == w.settings.IDs[db] && s.cluster.has(s)
			if has && (p.Dying || p.Clusters[db] == s.cluster.id || p.Data != plan.Published) {
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
