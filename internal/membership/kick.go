package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// kickBase is how long the proof of a kick may take besides three election timers.
const kickBase = 10 * time.Second

func kickTimeout(electionTimer time.Duration) time.Duration { return kickBase + 3*electionTimer }

// KickRequest is an operator's request for a kick.
type KickRequest struct {
	// IDs name the member to kick, for one database or both.
	IDs map[ovndb.Database]raft.IDArgument
	// Unit, set in place of IDs, names the unit whose members to kick, in both databases.
	Unit string
	// Confirmed is the parameter i-really-mean-it. An unconfirmed request is judged and changes nothing. Permit
	// permits kicks that rule R4 refuses.
	Confirmed bool
	Permit    raft.Permit
	// DryRun changes nothing.
	DryRun bool
}

// KickOutcome is the outcome of a kick in one database.
type KickOutcome string

// The outcomes of a kick.
const (
	Removed     KickOutcome = "removed"
	AlreadyGone KickOutcome = "already gone"
	WouldRemove KickOutcome = "would be removed"
	Refused     KickOutcome = "refused"
	// Pending means that the kick was sent, and not proved in time.
	Pending KickOutcome = "pending"
	// Untouched means that nothing was done, because of another database or unit.
	Untouched KickOutcome = "not touched"
)

// KickResult is the report on one database that the request names.
type KickResult struct {
	Database ovndb.Database
	Outcome  KickOutcome
	// Reasons describe the member, its unit and state, and the quorum.
	Reasons []finding.Reason
	// Against are the reasons against the kick, with their remedies. Warnings don't prevent it.
	Against, Warnings []finding.Finding
}

// Done reports whether nothing is left to do.
func (r KickResult) Done() bool {
	return r.Outcome == Removed || r.Outcome == AlreadyGone || r.Outcome == WouldRemove
}

// Kick removes another unit's member from each database that the request names (rules R1 to R8). It judges all
// databases before it changes any. It returns a result for each; it returns an error only if nothing was judged, or if
// all that the kick lacks is a confirmation.
func (s *Changer) Kick(ctx context.Context, m observe.Application, r KickRequest) ([]KickResult, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	s.Progress(ctx, "checking the members of the databases")
	kicks := s.resolveAll(ctx, m, r)
	judge := func(ctx context.Context) error {
		if !evaluateKicks(ctx, kicks) {
			return errWithheld
		}
		return nil
	}
	switch {
	case r.DryRun:
		_ = judge(ctx) // the results have its error, and the error of the change
	case !r.Confirmed:
		if judge(ctx) == nil && slices.ContainsFunc(kicks, (*kickOperation).unresolved) {
			return nil, finding.Refuse([]finding.Finding{finding.New(finding.Unconfirmed, finding.Subject{},
				finding.Args{Reasons: finding.Because(finding.NeverComesBack)})})
		}
	default:
		_ = change[*kickOperation]{operations: kicks, judge: judge, ends: always}.carryOut(ctx)
	}
	return s.results(ctx, kicks), nil
}

// errWithheld means that a kick was not made; its result has the reason.
var errWithheld = errors.New("the kick was withheld")

func (r KickRequest) check() error {
	switch {
	case len(r.IDs) == 0 && r.Unit == "":
		return invalid("missing", finding.TakesMember)
	case len(r.IDs) > 0 && r.Unit != "":
		return invalid("invalid", finding.GivenTwice)
	}
	return nil
}

// invalid refuses the value of the parameter unit.
func invalid(value string, why finding.ReasonCode) error {
	return finding.Refuse([]finding.Finding{
		finding.About(finding.ParameterInvalid, "unit", finding.Args{Value: value, Reasons: finding.Because(why)}),
	})
}

// evaluateKicks judges every kick that is not done yet, and reports whether all may continue: no database is touched
// while an earlier change of another one is not proved.
func evaluateKicks(ctx context.Context, kicks []*kickOperation) bool {
	ok := true
	for _, k := range kicks {
		if k.unresolved() {
			k.evaluate(ctx)
		}
		ok = ok && k.result.Outcome != Refused && k.result.Outcome != Pending
	}
	return ok
}

func (s *Changer) results(ctx context.Context, kicks []*kickOperation) []KickResult {
	offerForce(kicks)
	refused := false
	var plans []raft.Plan
	clusters := status.Views{}
	for _, k := range kicks {
		refused = refused || k.result.Outcome == Refused || k.result.Outcome == Pending
		if k.result.Outcome == Refused && k.result.Against[0].Code == finding.QuorumWouldBeLost {
			plans, clusters[k.server.Database] = append(plans, k.plan), k.view
		}
	}
	var ways []finding.Remedy
	if len(plans) > 0 { // one command suffices for both
		ways = status.Ways(kicks[0].application, plans, s.completed(ctx, kicks[0].application, clusters))
	}
	var all []KickResult
	for _, k := range kicks {
		r := k.result
		if r.Outcome == Refused && r.Against[0].Code == finding.QuorumWouldBeLost {
			r.Against[0].Remedies = ways
		}
		if r.Outcome == WouldRemove && (refused || !k.request.DryRun) {
			r.Outcome, r.Against = Untouched, []finding.Finding{finding.Of(finding.OtherRefused, r.Database, finding.Args{},
				finding.ByHand(finding.RunAgain))}
		}
		all = append(all, r)
	}
	return all
}

// offerForce adds the command that permits all kicks that a permit would allow.
func offerForce(kicks []*kickOperation) {
	permit := raft.PermitNone
	var forced []*kickOperation
	for _, k := range kicks {
		if k.mayForce {
			forced, permit = append(forced, k), permit.Stronger(k.permit)
		}
	}
	for _, k := range forced {
		f := &k.result.Against[0]
		f.Remedies = append(f.Remedies, finding.If(finding.ToKickAnyway, again(permit, forced...)))
	}
}

type kickOperation struct {
	changer     *Changer
	application observe.Application
	request     KickRequest
	server      observe.ServerState
	// otherServer is this unit's server of the other database. It serves to recognise IDs of that database.
	otherServer observe.ServerState
	target      raft.Peer
	// answers are the answers of members whose IDs share the same four digits.
	answers []raft.ProbeResult
	// id is the target as named to the server.
	id   string
	lock *lock
	// removed is the text of the record of the removal.
	removed string
	// plan is the last judgement, made from view.
	plan raft.Plan
	view raft.View
	// mayForce reports whether the refused kick is allowed with the permit.
	mayForce bool
	permit   raft.Permit
	// withdrawn reports whether the recorded kick was surely not begun.
	withdrawn bool
	result    KickResult
}

func (k *kickOperation) unresolved() bool {
	return k.result.Outcome == "" || k.result.Outcome == WouldRemove
}

func (k *kickOperation) refuse(code finding.Code, args finding.Args, ways ...finding.Remedy) {
	k.withhold(Refused, finding.Of(code, k.server.Database, args, ways...))
}

func (k *kickOperation) refuseFor(err error) {
	again := finding.ByHand(finding.RunAgain)
	if refused := finding.Refuse(finding.Reasons(err), again); refused != nil {
		k.withhold(Refused, finding.Reasons(refused)...)
		return
	}
	k.refuse(finding.ChangeFailed, finding.Quote(err.Error()).Args(), again)
}

func (k *kickOperation) withhold(outcome KickOutcome, against ...finding.Finding) {
	for i, f := range against {
		against[i] = status.Named(k.application, k.server.Database, f)
	}
	k.result.Outcome, k.result.Reasons, k.result.Against = outcome, nil, against
}

func (k *kickOperation) takeLock(ctx context.Context) (err error) {
	if !k.unresolved() {
		return nil
	}
	s, d := k.changer, k.server.Database
	s.Progress(ctx, d.Short()+": checked; taking the lock")
	if k.lock, err = s.lock(ctx, k.server, func(context.Context) error { return nil }); err != nil {
		k.refuseFor(err)
		return err
	}
	k.server = s.Observer.ObserveServer(ctx, d)
	k.resolve(ctx)
	return nil
}

func (k *kickOperation) act(ctx context.Context) error {
	if k.unresolved() && !k.kick(ctx) {
		return errWithheld // the rest stays untouched, and the results report that
	}
	return nil
}

// kick asks for the removal and waits for its proof. It reports whether to continue with the other database.
func (k *kickOperation) kick(ctx context.Context) bool {
	s, d := k.changer, k.server.Database
	// Observe again, just before the irreversible command: the other database's kick has taken time.
	k.server = s.Observer.ObserveServer(ctx, d)
	if k.resolve(ctx); !evaluateKicks(ctx, []*kickOperation{k}) || !k.unresolved() {
		return k.result.Done()
	}
	member := status.Describe(k.application, d, k.target)
	s.Progress(ctx, fmt.Sprintf("%s: kicking %s, server ID %s", d.Short(), member, k.id))
	limited, cancel, err := k.lock.recordIntent(ctx, lease.Kick, k.target.Longest())
	if err != nil {
		k.refuseFor(err)
		return false
	}
	defer cancel()
	switch err := s.Control.Kick(limited, d, k.id); {
	case err == nil:
	case errors.Is(err, ovsctl.ErrUnknownServer):
		if k.stays(ctx) { // only its first digits were known, and the others that were typed are wrong
			k.withdrawn = true
			k.refuse(finding.UnknownMember, finding.Args{Value: k.id}, k.waysToName(finding.UnknownMember)...)
			return false
		}
	case neverSent(err):
		k.withdrawn = true
		k.refuseFor(err)
		return false
	default:
		k.pending(finding.Quote(err.Error()))
		return false
	}
	if reason := k.await(ctx); !reason.IsZero() {
		k.pending(reason)
		return false
	}
	s.Progress(ctx, d.Short()+": the removal is proved")
	k.removed = s.removedText(k.application.LastUnit(d, k.target), "kicked")
	k.result.Outcome = Removed
	k.result.Reasons = []finding.Reason{{Code: finding.NoLongerMember, Name: member, Value: string(d)}}
	return true
}

// stays reports whether the target is in the configuration; false if that is unknown.
func (k *kickOperation) stays(ctx context.Context) bool {
	status, err := k.changer.Control.Status(ctx, k.server.Database)
	proof := raft.RemovalWatcher{Target: k.target.Short, Address: k.target.Address}
	proof.Observe(status)
	return err == nil && !proof.Absent()
}

// neverSent reports whether a failed kick will surely not be carried out: the server was not reached, or has refused.
func neverSent(err error) bool {
	return isAny(err, ovsctl.ErrNoLeader, ovsctl.ErrNotRunning, ovsctl.ErrDenied, ovsctl.ErrUnknownCluster,
		ovsctl.ErrNotClustered) || errors.As(err, new(*ovsctl.ServerError))
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// pending records that the kick was sent, and that its end was not observed.
func (k *kickOperation) pending(reason finding.Reason) {
	target := finding.Server{ID: k.target.Longest(), Address: k.target.Address}
	k.withhold(Pending, finding.Of(finding.RemovalNotProved, k.server.Database,
		finding.Args{Member: target, Reasons: []finding.Reason{reason}},
		finding.If(finding.ToSeeMembers, status.StatusCommand(k.application.Unit)), finding.ByHand(finding.RunAgain)))
}

// await watches this unit's own server until the removal is proved (rule R6). It returns why it gave up, or nothing.
func (k *kickOperation) await(ctx context.Context) (reason finding.Reason) {
	s, d := k.changer, k.server.Database
	proof := raft.RemovalWatcher{Target: k.target.Short, Address: k.target.Address}
	timeout := s.Patience(d, kickTimeout(k.server.Status.ElectionTimer))
	progress, lost := s.progressSince(s.Now()), false
	done := poll.Await(ctx, timeout, observe.PollInterval, func() {
		progress(ctx, fmt.Sprintf("%s: waiting, %s", d.Short(), reason))
		if lost {
			return
		}
		if err := k.lock.renew(ctx); err != nil {
			lost = true
			s.Log.WarnContext(ctx, "cannot keep the lock during the kick", "database", d.Short(), "error", err)
		}
	}, func() bool {
		status, err := s.Control.Status(ctx, d)
		switch {
		case err != nil:
			reason = finding.Quote(err.Error())
		case proof.Observe(status):
			return true
		case proof.Absent():
			reason = finding.Reason{Code: finding.RemovalUncommitted}
		default:
			reason = finding.Reason{Code: finding.StillConfigured}
		}
		return false
	})
	switch {
	case done:
		return finding.Reason{}
	case ctx.Err() != nil:
		return finding.Quote(ctx.Err().Error())
	}
	return finding.Reason{Code: finding.AfterLimit, Age: timeout, Because: []finding.Reason{reason}}
}

// longest returns the target's ID in the longest known form: if the removed server comes back, it finds its record by
// its full ID.
func (k *kickOperation) longest() raft.ID {
	if id, ok := raft.ParseID(k.request.IDs[k.server.Database].Text); ok && id.Short() == k.target.Short {
		return id
	}
	return raft.ID(k.target.Longest())
}

func (k *kickOperation) release(ctx context.Context) {
	removed := map[raft.ID]string{}
	if k.removed != "" {
		removed[k.longest()] = k.removed
	}
	k.lock.release(ctx, removed, func(m lease.Intent) bool {
		return k.withdrawn && m.Kind == lease.Kick && m.ID == k.target.Longest()
	})
}
