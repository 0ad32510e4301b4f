package membership

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// KickCommand is the line that kicks a member of one or of both databases. What
// it says, the action accepts: a member that is up, or whose unit is still in
// the model, needs force.
func KickCommand(m Application, on string, targets map[ovndb.Database]string, force bool) string {
	c := juju.Command{Unit: on, Action: "kick"}
	for _, d := range []ovndb.Database{ovndb.SB, ovndb.NB} { // the order of the specification's example
		if id := targets[d]; id != "" {
			c.Params = append(c.Params, juju.Param{Key: d.Short() + "-identity", Value: id, Text: true})
		}
	}
	if force {
		c.Params = append(c.Params, juju.Param{Key: "force", Value: "true"})
	}
	c.Params = append(c.Params, juju.Param{Key: "i-really-mean-it", Value: "true"})
	return m.Version.Render(c)
}

// Describe names a member and its unit.
func Describe(m Application, d ovndb.Database, p raft.Peer) string {
	o := m.Owner(d, p)
	switch {
	case o.Unit != "":
		return fmt.Sprintf("%s (%s)", p.Short, o.Unit)
	case o.Was != "":
		return fmt.Sprintf("%s (was %s)", p.Short, o.Was)
	}
	return fmt.Sprintf("%s at %s (unknown unit)", p.Short, p.Address)
}

// kickUnitCommand kicks whatever a unit has, in both databases.
func kickUnitCommand(m Application, on, unit string, force bool) string {
	c := juju.Command{Unit: on, Action: "kick", Params: []juju.Param{{Key: "unit", Value: unit}}}
	if force {
		c.Params = append(c.Params, juju.Param{Key: "force", Value: "true"})
	}
	c.Params = append(c.Params, juju.Param{Key: "i-really-mean-it", Value: "true"})
	return m.Version.Render(c)
}

// Remediation says how to get rid of the members that are down and stand in the way of
// a change of one database.
func Remediation(r *raft.Refusal, v raft.View, m Application) []string {
	return Remediations([]*raft.Refusal{r}, Views{r.Database: v}, m)
}

// blocker are the members of one unit, or one member of an unknown unit, that
// stand in the way.
type blocker struct {
	owner   Owner
	targets map[ovndb.Database]string
	// names are the members, each as it is described; down says of each in which
	// database it is down.
	names, down []string
	// mayGo says that a forced kick would be allowed in each of the databases.
	mayGo bool
}

// Remediations is the same for both databases, with one way out for each unit: one
// command does for both.
func Remediations(refusals []*raft.Refusal, clusters Views, m Application) []string {
	var advice []string
	for _, b := range blockersOf(m, refusals, clusters) {
		what, server, it := strings.Join(b.names, " and "), "server", "it is"
		if len(b.names) > 1 {
			server, it = "servers", "they are"
		}
		switch {
		case !b.mayGo:
			advice = append(advice, fmt.Sprintf("start the %s of %s again", server, what))
		case b.owner.Unit != "":
			advice = append(advice, fmt.Sprintf("start the %s of %s again, or, if %s lost, kick %s first: %s",
				server, what, it, strings.Fields(it)[0], kickBlocker(b, b.targets, clusters, m)))
		case b.owner.Stale:
			advice = append(advice, fmt.Sprintf("kick %s first: %s", what, kickBlocker(b, b.targets, clusters, m)))
		default:
			advice = append(advice, fmt.Sprintf("find out whose %s is before anybody kicks it (%s)", what, strings.Join(m.Unpublished(), "; ")))
		}
	}
	return advice
}

// blockersOf puts the members of one unit together.
func blockersOf(m Application, refusals []*raft.Refusal, clusters Views) []*blocker {
	var all []*blocker
	byUnit := map[Owner]*blocker{}
	for _, r := range refusals {
		for _, p := range r.Blockers {
			o := m.Owner(r.Database, p)
			known := o.Unit != "" || o.Was != ""
			b := byUnit[o]
			if b == nil || !known || b.targets[r.Database] != "" {
				b = &blocker{owner: o, targets: map[ovndb.Database]string{}, mayGo: true}
				all = append(all, b)
				byUnit[o] = b
			}
			plan := raft.PlanKick(raft.Change{Database: r.Database, View: clusters[r.Database], Target: p.Longest(), UnitInModel: o.Unit, Force: true})
			b.mayGo = b.mayGo && plan.Refusal == nil
			b.targets[r.Database] = p.Longest()
			b.names = append(b.names, Describe(m, r.Database, p))
			b.down = append(b.down, r.Database.Short()+" "+Describe(m, r.Database, p)+" is down")
		}
	}
	return all
}

// StatusWidth is how much of a longer message `juju status` shows, in characters, an
// ellipsis behind it left out (maxMessageLength in
// cmd/juju/status/output_tabular.go of Juju 3.6 and 4.0): what is to be typed stands
// within.
const StatusWidth = 120 - len("...")

// ready is what the messages of an active unit begin with. Programs wait for it, as
// they did with the Python charm (wait_for_application_states of zaza's model.py).
const ready = "Unit is ready ("

// Ready is the message of an active unit.
func Ready(text string) string { return ready + text + ")" }

// commandFirst is the status of an active unit with a command: led by what it is
// about, where the command then still is seen as a whole.
func commandFirst(lead, command, rest string) string {
	if len(ready)+len(lead)+len(": ")+len(command) <= StatusWidth {
		return lead + ": " + command + rest
	}
	return command + rest + "; " + lead
}

// leaveRemediation is the first thing to do so that a unit can leave, led by the
// command, if there is one.
func leaveRemediation(lead string, refusals []*raft.Refusal, clusters Views, m Application) string {
	b := blockersOf(m, refusals, clusters)[0]
	down := strings.Join(b.down, ", ")
	switch {
	case b.mayGo && b.owner.Unit != "":
		return commandFirst(lead, kickBlocker(b, shortened(b.targets), clusters, m), " (if it is lost; else start its servers); "+down)
	case b.mayGo && b.owner.Stale:
		return commandFirst(lead, kickBlocker(b, shortened(b.targets), clusters, m), "; "+down)
	}
	return lead + ": " + Remediations(refusals, clusters, m)[0] + "; " + down
}

// kickBlocker names the unit where that means these members and no others, which
// is the shorter line and the same for both databases; else these IDs of them.
func kickBlocker(b *blocker, ids map[ovndb.Database]string, clusters Views, m Application) string {
	force := b.owner.Unit != ""
	unit := cmp.Or(b.owner.Unit, b.owner.Was)
	on := runOn(m, clusters, b.owner.Unit)
	if hasOnly(m, clusters, unit, b.targets) {
		return kickUnitCommand(m, on, unit, force)
	}
	return KickCommand(m, on, ids, force)
}

// shortened are as many digits of each ID as tell a server from all others, where a
// whole one would not be shown.
func shortened(targets map[ovndb.Database]string) map[ovndb.Database]string {
	short := map[ovndb.Database]string{}
	for d, id := range targets {
		short[d] = id[:min(len(id), statusDigits)]
	}
	return short
}

// hasOnly says whether a kick of the unit means these members and no others, in
// both databases, each of which has a record of it.
func hasOnly(m Application, clusters Views, unit string, targets map[ovndb.Database]string) bool {
	if unit == "" || len(clusters) < len(ovndb.Databases()) {
		return false
	}
	for d, v := range clusters {
		ids := m.ServersOf(d, unit)
		if len(ids) == 0 {
			return false
		}
		for _, p := range v.Peers() {
			its := slices.ContainsFunc(ids, func(id raft.ID) bool { return SameServer(id, p) })
			if its && p.Longest() != targets[d] {
				return false
			}
		}
	}
	return true
}

// StatusCommand is the line that shows the clusters as a unit sees them.
func StatusCommand(m Application, on string) string {
	return m.Version.Render(juju.Command{Unit: on, Action: "cluster-status"})
}

// RefusedError says that nothing was touched, and why.
type RefusedError struct {
	// Refusals are one or two: each database is judged.
	Refusals []*raft.Refusal
	// Advice are the ways out, each one line.
	Advice []string
}

// Error is one line for each reason, then one for each way out, which both
// databases may share.
func (e *RefusedError) Error() string {
	var lines []string
	for _, r := range e.Refusals {
		lines = append(lines, r.Error())
	}
	for i, a := range e.Advice {
		if !slices.Contains(e.Advice[:i], a) {
			lines = append(lines, "next: "+a)
		}
	}
	return strings.Join(lines, "\n")
}
