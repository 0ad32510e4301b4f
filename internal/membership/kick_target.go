package membership

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

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
			k.unitUnknown(Refused, k.unknownMembers())
		}
	}
	return kicks
}

// noRecord is the ID if the named unit is not known to have had a server of the database.
const noRecord = "no record"

func noneKnown(kicks []*kickOperation) bool {
	return !slices.ContainsFunc(kicks, func(k *kickOperation) bool {
		return k.result.Outcome == Refused || k.id != noRecord
	})
}

// resolve finds the target in the database's configuration, or refuses (rule R3).
func (k *kickOperation) resolve(ctx context.Context) {
	k.result = KickResult{Database: k.server.Database}
	if !k.server.Member() {
		k.refuse(finding.NotAMember, k.server.Reason().Args(), finding.ByHand(finding.AskAnother))
		return
	}
	if k.request.Unit != "" {
		k.resolveUnit(ctx)
		return
	}
	if k.answers = nil; k.server.Status.AmbiguousIDs() {
		k.answers = k.changer.Observer.Probe(ctx, k.server) // the answers have the full IDs
	}
	d, given := k.server.Database, k.request.IDs[k.server.Database]
	var there []raft.Peer
	if k.otherServer.Condition == ovndb.Serving {
		there = raft.View{Status: k.otherServer.Status, Names: k.application.Names(d.Other())}.Peers()
	}
	found, refusal := raft.Identify(d, given, k.peers(), there)
	switch {
	case refusal == nil:
		k.target, k.id = found.Peers[0], found.Text
	case refusal.Code == finding.UnknownMember && k.knownAsRemoved(ctx, given):
		k.alreadyGone(ctx, finding.Reason{Code: finding.RemovedEarlier, Value: given.Text})
	default:
		k.refuse(refusal.Code, refusal.Args, k.waysToName(refusal.Code)...)
		k.result.Against[0].Causes = refusal.Causes
	}
}

func (k *kickOperation) waysToName(code finding.Code) []finding.Remedy {
	see := finding.If(finding.ToSeeMembers, status.StatusCommand(k.application.Unit))
	switch code {
	case finding.MemberAmbiguous:
		see.Command.Params = []command.Param{{Key: "format", Value: "yaml"}} // the YAML has the full IDs
		return []finding.Remedy{see, finding.ByHand(finding.NameByID)}
	case finding.MemberOfOther:
		return []finding.Remedy{finding.ByHand(finding.NameThere)}
	}
	return []finding.Remedy{see}
}

// peers returns the members, with full IDs if known.
func (k *kickOperation) peers() []raft.Peer {
	return raft.View{Status: k.server.Status, Names: k.application.Names(k.server.Database), Probes: k.answers}.Peers()
}

// unitUnknown withholds the kick of a unit without a record of a server. members belong to no unit.
func (k *kickOperation) unitUnknown(outcome KickOutcome, members []finding.Server) {
	d, ways := k.server.Database, k.waysToName(finding.UnitUnknown)
	if len(members) > 0 {
		ways = []finding.Remedy{finding.ByHand(finding.NameByID)}
	}
	k.withhold(outcome, finding.Of(finding.UnitUnknown, d,
		finding.Args{Unit: k.request.Unit, Members: members, Other: d.Short()}, ways...))
}

func (k *kickOperation) unknownMembers() (unknown []finding.Server) {
	for _, p := range k.peers() {
		if k.application.Owner(k.server.Database, p).Unit == "" {
			unknown = append(unknown, finding.Server{ID: p.Longest(), Address: p.Address})
		}
	}
	return unknown
}

func (k *kickOperation) resolveUnit(ctx context.Context) {
	d, unit := k.server.Database, k.request.Unit
	ids := k.application.ServersOf(d, unit)
	if len(ids) == 0 {
		// A member that belongs to no unit may belong to the named one.
		k.id = noRecord
		k.alreadyGone(ctx, finding.Reason{Code: finding.NoServerRecord, Name: unit})
		if unknown := k.unknownMembers(); len(unknown) > 0 && k.result.Outcome == AlreadyGone {
			k.unitUnknown(Untouched, unknown)
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
		k.alreadyGone(ctx, finding.Reason{Code: finding.NoMemberLeft, Name: unit, Value: string(d)})
	case 1:
		k.target, k.id = present[0], present[0].Longest()
	default:
		args := finding.Args{Value: unit, Count: len(present), Other: d.Short()}
		for _, p := range present {
			args.Members = append(args.Members, finding.Server{ID: p.Longest(), Address: p.Address})
		}
		k.refuse(finding.MemberAmbiguous, args, finding.ByHand(finding.NameByID))
	}
}

// gonePatience is how long a configuration may take to be committed, besides an election. It takes milliseconds.
const gonePatience = 2 * time.Second

// alreadyGone sets the result of a kick whose target is not in the configuration, once this is proved (rule R6): a
// server shows the members of the newest entry of its log, which is undone if it is never committed. So a kick that
// was sent without a quorum stays pending.
func (k *kickOperation) alreadyGone(ctx context.Context, why finding.Reason) {
	d, proof := k.server.Database, raft.ConfigurationWatcher{}
	patience := gonePatience + min(2*k.server.Status.ElectionTimer, electionPatience)
	if proof.Observe(k.server.Status) || poll.Await(ctx, patience, observe.PollInterval, nil, func() bool {
		status, err := k.changer.Control.Status(ctx, d)
		return err == nil && proof.Observe(status)
	}) {
		k.result.Outcome, k.result.Reasons = AlreadyGone, []finding.Reason{why}
		return
	}
	k.withhold(Pending, finding.Of(finding.RemovalNotCommitted, d, finding.Args{}, finding.ByHand(finding.RunAgain)))
}

func (k *kickOperation) knownAsRemoved(ctx context.Context, given raft.IDArgument) bool {
	s, d := k.changer, k.server.Database
	ids, err := s.externalIDs(ctx, d)
	if err != nil {
		s.Log.InfoContext(ctx, "cannot read which servers were removed", "database", d.Short(), "error", err)
	}
	r, _ := raft.Resolve(given, formerMembers(k.application, d, ids))
	return len(r.Peers) > 0
}

// formerMembers returns the servers in the history, except servers that have yet to join. It adds the servers for
// which ids, the external_ids of the database, have a record of their removal or an intent in the lock. The record
// may come seconds after the removal; the intent precedes it.
func formerMembers(m observe.Application, d ovndb.Database, ids map[string]string) (former []raft.Peer) {
	add := func(id raft.ID) { former = append(former, raft.Peer{ID: id, Member: raft.Member{Short: id.Short()}}) }
	for _, id := range m.Names(d) {
		if !m.IsPublished(d, id) {
			add(id)
		}
	}
	for id := range observe.RemovedServers(ids) {
		add(id)
	}
	record, _ := lease.Parse(ids[observe.LockKey]) // a damaged record has no intents
	for _, i := range record.Intents {
		add(raft.ID(i.ID))
	}
	return former
}

// evaluate judges a resolved kick. Afterwards the result is Refused or WouldRemove.
func (k *kickOperation) evaluate(ctx context.Context) {
	s, d := k.changer, k.server.Database
	owner := k.application.Owner(d, k.target)
	view, plan, err := s.evaluate(ctx, &k.server, k.application, k.lock, func(v raft.View) raft.Plan {
		return raft.PlanKick(raft.Change{
			Database: d, View: v, Target: k.id, UnitInModel: owner.Unit, Permit: k.request.Permit, Pending: k.lock.pending(),
		})
	})
	if err != nil {
		k.refuseFor(err)
		return
	}
	if plan.Target.Short != "" {
		k.target = plan.Target
	}
	name := status.Describe(k.application, d, k.target)
	if !strings.Contains(name, k.target.Address) {
		name += " at " + k.target.Address
	}
	effect := effectOf(name, k.target, plan)
	k.plan, k.view = plan, view
	if plan.Refusal != nil {
		if code := plan.Refusal.Code; code == finding.UnitInModel || code == finding.MemberIsLive {
			plan.Refusal.Args.Reasons = effect
		}
		k.refuse(plan.Refusal.Code, plan.Refusal.Args, k.ways(ctx, plan, view, owner)...)
		k.result.Against[0].Causes = plan.Refusal.Causes
		return
	}
	k.result.Outcome, k.result.Reasons, k.result.Warnings = WouldRemove, effect, plan.Warnings
	if owner.Unit == "" && k.serves() {
		up := finding.Of(finding.UpWithoutUnit, d,
			finding.Args{Member: finding.Server{ID: k.target.Longest(), Address: k.target.Address}})
		k.result.Warnings = append(k.result.Warnings, up)
	}
}

// serves reports whether the target takes part in the cluster, over any connection.
func (k *kickOperation) serves() bool { return k.target.Up || k.target.OneWay }

func (k *kickOperation) ways(
	ctx context.Context, plan raft.Plan, view raft.View, owner observe.Owner,
) []finding.Remedy {
	clusters := status.Views{k.server.Database: view}
	switch plan.Refusal.Code {
	case finding.MemberIsLive, finding.UnitInModel:
		return k.waysToForce(ctx, view, owner)
	case finding.OwnMember:
		return []finding.Remedy{finding.If(finding.ToRemove, command.RemoveUnit(k.application.Unit)).For(k.application.Unit)}
	case finding.QuorumWouldBeLost:
		return nil // it depends on both databases
	case finding.NoQuorum, finding.NoLeader, finding.LeaderUnseen, finding.NotAMember:
		return status.ElsewhereOrLost(k.application, clusters)
	case finding.SoleMember:
		return []finding.Remedy{finding.Do(command.Client("add-unit", k.changer.Env.App))}
	}
	return []finding.Remedy{finding.ByHand(finding.RunAgain)}
}

// waysToForce returns alternatives to the kick of a member that is up or of a unit that stays, and finds the permit
// that such a kick needs.
func (k *kickOperation) waysToForce(
	ctx context.Context, view raft.View, owner observe.Owner,
) (ways []finding.Remedy) {
	d, unit := k.server.Database, owner.Unit
	change := raft.Change{Database: d, View: view, Target: k.id, UnitInModel: unit}
	switch leave := raft.PlanLeave(change); {
	case unit == "" && k.serves() && k.application.HasAddress(k.target.Address):
		return []finding.Remedy{
			finding.ByHand(finding.AwaitIDs),
			finding.If(finding.ToSeeMembers, status.StatusCommand(k.application.Unit)),
		}
	case unit != "" && k.serves() && leave.Refusal != nil: // its own leave would be refused too
		return status.Ways(k.application, []raft.Plan{leave}, k.changer.completed(ctx, k.application, status.Views{d: view}))
	case unit != "" && k.serves(): // it then leaves by itself
		return []finding.Remedy{finding.If(finding.ToRemove, command.RemoveUnit(unit)).For(unit)}
	case unit != "":
		ways = status.WhileDown(k.application, k.changer.completed(ctx, k.application, status.Views{d: view}), unit)
	case k.target.Runs():
		off := finding.If(finding.OnceMachineOff, again(raft.PermitNone, k))
		ways = []finding.Remedy{finding.ByHand(finding.PowerOff), off}
	}
	k.permit, k.mayForce = raft.WeakestPermit(change) // the advised command must not be refused
	return ways
}

// again returns the command that repeats kicks with a permit. It names the unit if the request does, and otherwise all
// digits of the IDs.
func again(permit raft.Permit, kicks ...*kickOperation) command.Command {
	on, targets := kicks[0].application.Unit, map[ovndb.Database]string{}
	if unit := kicks[0].request.Unit; unit != "" {
		return status.KickUnit(on, unit, permit)
	}
	for _, k := range kicks {
		targets[k.server.Database] = k.target.Longest()
	}
	return status.KickCommand(on, targets, permit)
}

// effectOf returns the state of the target, and the quorum before and after the kick.
func effectOf(name string, target raft.Peer, p raft.Plan) []finding.Reason {
	state := finding.Reason{Code: finding.MemberUp, Name: name, Because: []finding.Reason{target.Why}}
	switch {
	case target.OneWay:
		state.Code = finding.MemberUpBut
	case !target.Up:
		state.Code = finding.MemberNotUp
	default:
		state.Because = nil
	}
	return []finding.Reason{
		state,
		{Code: finding.UpBefore, Count: p.Before.Up, Total: p.Before.Members},
		{Code: finding.UpAfter, Count: p.After.Up, Total: p.After.Members},
	}
}
