package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// resolveAll finds, for each database that the request names, the member that it
// means. What can't be resolved is refused there.
func (s *Changer) resolveAll(ctx context.Context, m observe.Application, r KickRequest) []*kickOperation {
	servers := s.Observer.ObserveServers(ctx)
	var kicks []*kickOperation
	for _, d := range ovndb.Databases() {
		if _, named := r.IDs[d]; !named && r.Unit == "" {
			continue
		}
		k := &kickOperation{changer: s, application: m, request: r, server: servers[d], otherServer: servers[d.Other()]}
		k.result.Database = d
		k.resolve(ctx)
		kicks = append(kicks, k)
	}
	if r.Unit != "" && noneKnown(kicks) {
		for _, k := range kicks {
			k.refuseUnknownUnit()
		}
	}
	return kicks
}

// noRecord marks a database in which the named unit is not known to have had a
// server.
const noRecord = "no record"

func noneKnown(kicks []*kickOperation) bool {
	return !slices.ContainsFunc(kicks, func(k *kickOperation) bool { return k.result.Outcome == Refused || k.id != noRecord })
}

// resolve finds the target in the database's present configuration (rule R3).
func (k *kickOperation) resolve(ctx context.Context) {
	k.result = KickResult{Database: k.server.Database}
	if !k.server.Member() {
		k.refuse("this unit can't kick a member: "+k.server.Text(), "run the action on a unit whose server is a member")
		return
	}
	if k.request.Unit != "" {
		k.resolveUnit(ctx)
		return
	}
	if k.answers = nil; k.server.Status.AmbiguousIDs() {
		k.answers = k.changer.Observer.Probe(ctx, k.server) // only their whole IDs tell them apart
	}
	d, given := k.server.Database, k.request.IDs[k.server.Database]
	var there []raft.Peer
	if k.otherServer.Condition == ovndb.Serving {
		there = raft.View{Status: k.otherServer.Status, Names: k.application.Names(d.Other())}.Peers()
	}
	found, refusal := raft.Identify(d, given, k.peers(), there, k.describe)
	switch {
	case refusal == nil:
		k.target, k.id = found.Peers[0], found.Text
	case refusal.Reason == raft.UnknownID && k.knownAsRemoved(ctx, given):
		k.alreadyGone(ctx, given.Text+" was removed earlier")
	default:
		k.refuse(refusal.Text, k.adviceOnID(refusal.Reason)...)
	}
}

// adviceOnID says how to name the member that was meant.
func (k *kickOperation) adviceOnID(reason raft.Reason) []string {
	d := k.server.Database
	switch reason {
	case raft.AmbiguousID:
		return []string{"give the whole ID: cluster-status format=yaml shows it, and its unit publishes it as " + d.Short() + "-server-id"}
	case raft.OtherDatabase:
		return []string{"to kick it there, name it as " + d.Other().Short() + "-identity"}
	}
	return []string{k.showMembersCommand()}
}

func (k *kickOperation) showMembersCommand() string {
	return "see which members there are: " + status.StatusCommand(k.application, k.application.Unit)
}

// peers are the members with their IDs as far as they are known. Whether they are
// up is judged later.
func (k *kickOperation) peers() []raft.Peer {
	return raft.View{Status: k.server.Status, Names: k.application.Names(k.server.Database), Probes: k.answers}.Peers()
}

// describe names a member, and marks this unit's own.
func (k *kickOperation) describe(d ovndb.Database, p raft.Peer) string {
	text := status.Describe(k.application, d, p)
	if p.Self {
		text += " (this unit)"
	}
	return text
}

func (k *kickOperation) describeAll(peers []raft.Peer) []string {
	var all []string
	for _, p := range peers {
		all = append(all, k.describe(k.server.Database, p))
	}
	return all
}

// refuseUnknownUnit refuses a unit of which nothing is known.
func (k *kickOperation) refuseUnknownUnit() {
	text, unknown := "there is no record of a server of "+k.request.Unit, k.unknownMembers()
	if unknown == "" {
		k.refuse(text+", and each member belongs to a unit", k.showMembersCommand())
		return
	}
	k.refuse(text+"; members whose unit is not known: "+unknown, "name the members by sb-identity and nb-identity")
}

// unknownMembers are the members that belong to no unit; empty if there are none.
func (k *kickOperation) unknownMembers() string {
	var unknown []raft.Peer
	for _, p := range k.peers() {
		if k.application.Owner(k.server.Database, p).Unit == "" {
			unknown = append(unknown, p)
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	var all []string
	for _, p := range unknown {
		all = append(all, p.Longest()+" at "+p.Address)
	}
	return strings.Join(all, ", ")
}

// resolveUnit finds what a unit has left behind.
func (k *kickOperation) resolveUnit(ctx context.Context) {
	d, unit := k.server.Database, k.request.Unit
	ids := k.application.ServersOf(d, unit)
	if len(ids) == 0 {
		// Not known is not the same as gone, where a member belongs to no unit.
		k.id = noRecord
		k.alreadyGone(ctx, "there is no record of a server of "+unit)
		if unknown := k.unknownMembers(); unknown != "" && k.result.Outcome == AlreadyGone {
			k.result.Outcome = Untouched
			k.result.Text += "; members whose unit is not known: " + unknown
			k.result.Next = []string{"if one of them was that unit's, name it by " + d.Short() + "-identity"}
		}
		return
	}
	var present []raft.Peer
	for _, p := range k.peers() {
		if slices.ContainsFunc(ids, p.Is) {
			present = append(present, p)
		}
	}
	switch len(present) {
	case 0:
		k.alreadyGone(ctx, fmt.Sprintf("%s has no member in %s any more", unit, d))
	case 1:
		k.target, k.id = present[0], present[0].Longest()
	default:
		k.refuse(fmt.Sprintf("several servers of %s are members: %s", unit, strings.Join(k.describeAll(present), ", ")),
			"name one of them by "+d.Short()+"-identity")
	}
}

// gonePatience is how long the configuration that a server shows may take to be seen
// committed, besides an election: it takes milliseconds.
const gonePatience = 2 * time.Second

// alreadyGone is the result of a kick whose target is in the configuration no more,
// once that is proved (rule R6): the rows that a server shows are those of the newest
// entry of its log. One that is not committed may be undone, so that a kick that
// was asked for without a quorum is pending, at the second try too.
func (k *kickOperation) alreadyGone(ctx context.Context, text string) {
	d, proof := k.server.Database, raft.ConfigurationWatcher{}
	patience, cancel := context.WithTimeout(ctx, gonePatience+min(2*k.server.Status.ElectionTimer, electionPatience))
	defer cancel()
	for status, err := k.server.Status, error(nil); ; status, err = k.changer.Control.Status(ctx, d) {
		if err == nil && proof.Observe(status) {
			k.result.Outcome, k.result.Text = AlreadyGone, text
			return
		}
		if poll.Wait(patience, observe.PollInterval) != nil {
			break
		}
	}
	k.result.Outcome, k.result.Text = Pending, "this unit's server does not show it as a member, but that may not be committed: it may become a member again"
	k.result.Next = []string{"wait until the database has a leader, and run the same command again"}
}

// knownAsRemoved says whether a record tells that the server once was a member:
// that of a removal, or that a unit had it that has none or another one now.
func (k *kickOperation) knownAsRemoved(ctx context.Context, given raft.IDArgument) bool {
	d := k.server.Database
	var former []raft.ID
	for _, id := range k.application.Names(d) {
		if !k.application.IsPublished(d, id) { // else it has yet to join
			former = append(former, id)
		}
	}
	endpoint := "unix:" + k.changer.Control.Paths.Socket(d)
	if ids, err := k.changer.Observer.ReadRemovals(ctx, d, endpoint); err == nil {
		for id := range ids {
			former = append(former, id)
		}
	}
	var peers []raft.Peer
	for _, id := range former {
		peers = append(peers, raft.Peer{ID: id, Member: raft.Member{Short: id.Short()}})
	}
	r, _ := raft.Resolve(given, peers)
	return len(r.Peers) > 0
}

// evaluate applies the rules to a resolved kick. Its result then is a refusal, or
// what would be done.
func (k *kickOperation) evaluate(ctx context.Context) {
	s, d := k.changer, k.server.Database
	owner := k.application.Owner(d, k.target)
	view, plan, err := s.evaluate(ctx, &k.server, k.application, k.lock, func(v raft.View) raft.Plan {
		change := raft.Change{Database: d, View: v, Target: k.id, UnitInModel: owner.Unit, Permit: k.request.Permit}
		if k.lock != nil {
			change.Pending = k.lock.pending()
		}
		return raft.PlanKick(change)
	})
	if err != nil {
		k.refuse(err.Error(), "run the same command again")
		return
	}
	if plan.Target.Short != "" {
		k.target = plan.Target
	}
	state := "up"
	switch {
	case k.target.OneWay:
		state = "up (" + k.target.Why + ")"
	case !k.target.Up:
		state = "not known to be up (" + k.target.Why + ")"
	}
	member := status.Describe(k.application, d, k.target)
	if !strings.Contains(member, k.target.Address) {
		member += " at " + k.target.Address
	}
	member += ", " + state
	arithmetic := fmt.Sprintf("; now %s; after it %s", plan.Before, plan.After)
	switch refusal := plan.Refusal; {
	case plan.Before.Up == 0 && !plan.Before.Held: // from here no member can be called up or down
		arithmetic = fmt.Sprintf("; %d members, %d of them needed", plan.Before.Members, raft.Majority(plan.Before.Members))
	case refusal != nil && (refusal.Reason == raft.WouldLoseQuorum || refusal.Reason == raft.NoQuorum):
		arithmetic = "" // the refusal's own text has it
	}
	if plan.Refusal != nil {
		k.refuse(member+": "+plan.Refusal.Text+arithmetic, k.advice(plan, view, owner)...)
		return
	}
	k.result.Outcome, k.result.Warnings = WouldRemove, plan.Warnings
	if text := status.UpWithoutUnit(k.serves()); text != "" && owner.Unit == "" {
		k.result.Warnings = append(k.result.Warnings, d.Short()+": "+k.target.Short+" has no unit"+text)
	}
	k.result.Text = member + arithmetic
}

// serves reports whether the target takes part in the cluster, over whichever connections.
func (k *kickOperation) serves() bool { return k.target.Up || k.target.OneWay }

// advice is the command that would be right.
func (k *kickOperation) advice(plan raft.Plan, view raft.View, owner observe.Owner) []string {
	s, d := k.changer, k.server.Database
	target := map[ovndb.Database]string{d: k.target.Longest()}
	switch plan.Refusal.Reason {
	case raft.LiveMember, raft.UnitInModel:
		// What is advised must not be refused in its turn.
		permit, allowed := raft.WeakestPermit(raft.Change{Database: d, View: view, Target: k.id, UnitInModel: owner.Unit})
		permitted := k.application.Version.Render(status.KickCommand(k.application.Unit, target, permit))
		var advice []string
		switch leave := raft.PlanLeave(raft.Change{Database: d, View: view, Target: k.id}); {
		case owner.Unit == "" && k.serves() && k.application.HasAddress(k.target.Address):
			return []string{"wait until the unit at its address has published its IDs, then look again: " + status.StatusCommand(k.application, k.application.Unit)}
		case owner.Unit != "" && k.serves() && leave.Refusal != nil:
			return status.Remediation(leave.Refusal, view, k.application) // its own leave would be refused too
		case owner.Unit != "" && k.serves():
			advice = append(advice, "remove its unit, which then leaves by itself: "+juju.Version{}.Render(command.RemoveUnit(owner.Unit)))
		case owner.Unit != "":
			advice = append(advice, "start its server again; or, if its machine is lost, remove the unit from the model, then kick what it left behind: "+
				juju.Version{}.Render(command.RemoveByForce(owner.Unit)))
		}
		switch {
		case !allowed || owner.Unit != "" && k.serves():
		case owner.Unit == "" && k.target.Runs():
			advice = append(advice, "power off its machine, then run the same command again; to kick it while it runs: "+permitted)
		default:
			advice = append(advice, "to kick it all the same: "+permitted)
		}
		return advice
	case raft.OwnID:
		return []string{"a unit leaves when it is removed: " + juju.Version{}.Render(command.RemoveUnit(k.application.Unit))}
	case raft.WouldLoseQuorum:
		return status.Remediation(plan.Refusal, view, k.application)
	case raft.NoQuorum, raft.NotMember:
		clusters := status.Views{d: view}
		return []string{
			"wait for an election, or run the action on a unit that shows a leader: " + status.StatusCommand(k.application, status.OtherUnit(k.application, clusters)),
			status.LostQuorumRemediation(k.application, clusters),
		}
	case raft.SoleMember:
		return []string{"add units, and wait until they have joined: juju add-unit " + s.Env.App}
	}
	return []string{"wait until it is done, and run the same command again"}
}
