package maintenance

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Departure proves that what the charm had on a node's machine is gone: units from the
// application, and members from the committed configurations of both clusters (rule R6). It is told of
// every look, in the order of time.
type Departure struct {
	targets []*departing
}

// departing is a member that has to go.
type departing struct {
	member Member
	proof  raft.RemovalWatcher
}

// Observe takes the units and members on the machine, the claim that matched them, and the health of the clusters. It
// returns what is left: nothing once all is proved to be gone. Anything unknown counts as left.
func (d *Departure) Observe(units []string, members []Member, claim string, unknown []string, all []DatabaseHealth) (left []answer.Message) {
	say := func(kind, name, format string, args ...any) {
		left = append(left, answer.Message{Message: fmt.Sprintf(format, args...), Error: true, Kind: kind, Name: name})
	}
	for _, what := range unknown {
		say(answer.MessageStep, "unknown", "cannot tell what is on its machine: %s", what)
	}
	for _, u := range units {
		say(answer.MessageHold, u, "%s is still in the application, and on this machine %s: check that it is, and run: juju remove-unit %s", u, claim, u)
	}
	for _, m := range members {
		if !slices.ContainsFunc(d.targets, func(t *departing) bool { return t.member.same(m) }) {
			d.targets = append(d.targets, &departing{member: m, proof: raft.RemovalWatcher{Target: m.Short, Address: m.Address}})
		}
	}
	if len(all) == 0 {
		say(answer.MessageHealth, "all", "cannot tell which members there are")
	}
	for _, h := range all {
		if !h.Accessible {
			say(answer.MessageHealth, h.Name, "cannot tell which members there are: %s", h.Why)
		}
	}
	for _, t := range d.targets {
		at := slices.IndexFunc(all, func(h DatabaseHealth) bool { return h.Name == t.member.Database && h.Accessible })
		if at < 0 || t.proof.Observe(all[at].Status) {
			continue // it is said above, or it is proved
		}
		switch m := all[at].each(t.member); {
		case m == nil && t.proof.Absent():
			say(answer.MessageHold, t.member.Short, "%s has left, but that is not committed yet", t.member.text())
		case m == nil:
			say(answer.MessageHold, t.member.Short, "%s is leaving", t.member.text())
		case m.Unit != "":
			say(answer.MessageHold, m.Short, "%s is still a member, that of %s", m.text(), m.Unit)
		case m.Kick != "":
			say(answer.MessageHold, m.Short, "%s is still a member and belongs to no unit any more: run: %s", m.text(), m.Kick)
		default:
			say(answer.MessageHold, m.Short, "%s is still a member, and its unit is not known: see: cluster-status", m.text())
		}
	}
	return left
}

// each is what is known of a member; nil where it is not in the configuration.
func (d DatabaseHealth) each(m Member) *MemberHealth {
	for _, one := range d.Each {
		if one.same(m) {
			return &one
		}
	}
	return nil
}

// Gone are the members that were there, and are proved to have left once nothing is left.
func (d *Departure) Gone() (all []string) {
	for _, t := range d.targets {
		all = append(all, t.member.text())
	}
	return all
}
