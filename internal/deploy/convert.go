package deploy

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// convert brings a database to the schema of the packages, once every server of the
// application runs them: a server of before OVS 3.2 that gets a conversion of a
// newer one ends, and can't start on its file again.
func (s State) convert(d *Decision, db raft.Database) {
	x := s.Databases[db]
	if x.Schema != Differs {
		return
	}
	switch late := s.runsAnother(); {
	case len(s.Pending) > 0:
		d.note("%s: the schema is older than the packages'; it is converted once the restarts are made", db.Short())
	case late != "":
		d.note("%s: the schema is older than the packages'; it is converted once %s", db.Short(), late)
	case !x.Leads():
		d.note("%s: the schema is older than the packages'; the leader converts it", db.Short())
	default:
		d.do(Step{Kind: Convert, Database: db, Reason: "every unit runs the packages that bring the new schema"})
	}
}

// runsAnother says for which unit a conversion waits, and what ends the wait; empty
// where every unit's services run what is installed here. Unlike [State.others] it
// counts each unit of the model, heard or not: one that is down comes back with the
// server that it had.
func (s State) runsAnother() string {
	here := s.Packages.Version
	for _, p := range s.Peers {
		if p.Data != Unread && len(p.Running) > 0 && !slices.ContainsFunc(p.Running, func(v Version) bool { return v != here }) {
			continue
		}
		switch {
		case p.Dying:
			return fmt.Sprintf("%s is gone, which is being removed", p.Unit)
		case p.Data == Unread:
			return p.Unit + " says what it runs"
		case len(p.Servers) == 0:
			return fmt.Sprintf("%s has joined too; if it can't, remove it", p.Unit)
		case !s.hears(p):
			return fmt.Sprintf("%s runs %s, and it is down: start it again, or remove it", p.Unit, here.OVN)
		case len(p.Running) == 0:
			return p.Unit + " says what it runs"
		}
		return fmt.Sprintf("%s runs %s too", p.Unit, here.OVN)
	}
	return ""
}

// outdated says whether newer packages may be had than are installed, so that a
// server which is down is not started with these: the others' databases may be too
// new for it. Where the packages can't be had, it is started all the same.
func (s State) outdated() bool {
	return s.Packages.Source != s.Settings.AllSources() && !s.Packages.Unavailable && s.usable(OptionSource, OptionOverlay)
}
