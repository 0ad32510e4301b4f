package recovery

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Verdict is the judgement of a request.
type Verdict struct {
	// Refusals are the reasons against the request, each with its remedies.
	Refusals []finding.Finding
	// Waiting are events that must come first, and that happen by themselves.
	Waiting []finding.Finding
	// Plan states what will be done, and which data is lost.
	Plan []finding.Statement
}

// Judge judges a request of this unit.
func (s State) Judge(r Request) Verdict {
	if f := s.hasNothing(r); f.Code != "" {
		return Verdict{Refusals: []finding.Finding{f}}
	}
	j := judging{s: s, r: r, Verdict: Verdict{Refusals: s.refuseHere(r)}}
	for _, m := range s.inOrder() {
		j.judge(m)
	}
	for _, unit := range s.leaving(r) {
		if !slices.ContainsFunc(s.Members, func(m Member) bool { return m.Unit == unit }) {
			j.lacks(s.finds(finding.RecoveryMayReturn, "", finding.Args{}), Member{Unit: unit})
		}
	}
	j.withWays(s, r)
	j.plan()
	return j.Verdict
}

// judging judges a request, member by member.
type judging struct {
	s State
	r Request
	Verdict
	// looked counts the copies that are compared before the new cluster is made.
	looked int
	// joining are the units that will join the new cluster, away the names of given up members.
	joining, away []string
}

// judge judges a member, whose unit will join the new cluster unless there is a reason against it.
func (j *judging) judge(m Member) {
	s, r := j.s, j.r
	given, copied := r.givesUp(m), s.copyOf(m.Unit)
	stays := m.Exists && !s.dying(m.Unit)
	compared := copied != nil && r.Backup == ""
	damaged := compared && copied.Damage != ""
	switch {
	case m.Unit == s.Unit:
		j.looked++
		return
	case compared && (copied.HasRaftLeader || copied.newer(*s.Own)) && (!given || !r.Force || m.Answers):
		j.Refusals = append(j.Refusals, s.ahead(r, m, *copied))
	case given:
		j.away = append(j.away, m.name())
		return
	case damaged && s.final(m, *copied):
		j.lacks(s.finds(finding.RecoveryCopyDamaged, m.Unit, finding.Quote(copied.Damage).Args()), m)
		return
	case copied != nil && copied.Stopped && !s.dying(m.Unit): // a dying unit may have started it since
	case copied == nil && stays && (r.Backup == "" || s.silent(m)):
		j.lacks(s.finds(finding.RecoveryNotReported, "", finding.Args{}), m)
		return
	case stays:
		j.Waiting = append(j.Waiting, s.mustStop(r, s.Unit, m.Unit))
		if damaged { // its last entry is known once it has stopped
			j.Waiting[len(j.Waiting)-1].Args.Detail = finding.Said(copied.Damage)
			j.joining = append(j.joining, m.Unit)
			return
		}
	default:
		j.lacks(s.finds(finding.RecoveryMayReturn, "", finding.Args{}), m)
		return
	}
	if m.ID != "" { // otherwise it is no member, and no majority counts it
		j.looked++
	}
	j.joining = append(j.joining, m.Unit)
}

// silent reports whether a member's server does not answer although nothing has stopped it yet. If its unit lives, it
// publishes a copy, since its server has no leader then.
func (s State) silent(m Member) bool { return s.Request == nil && m.ID != "" && !m.Answers }

// hasNothing refuses a request if this unit has no data for a new cluster, or if there is no old cluster.
func (s State) hasNothing(r Request) (f finding.Finding) {
	elsewhere := finding.ByHand(finding.RunElsewhere)
	switch {
	case s.Cluster == "":
		return s.finds(finding.RecoveryNoCluster, "", finding.Args{})
	case s.Own == nil:
		return s.finds(finding.RecoveryNoCopy, "", finding.Args{Cluster: s.Cluster.Brief()}, elsewhere)
	case r.Backup == "" && len(s.Members) == 0 && s.Own.Damage == "":
		return s.finds(finding.RecoveryNoCopy, "", finding.Args{
			Cluster: s.Cluster.Brief(),
			Reasons: finding.Because(finding.CopyEmpty),
		}, elsewhere)
	}
	return f
}

// refuseHere returns the refusals of a request of this unit that don't depend on the other units' copies.
func (s State) refuseHere(r Request) (all []finding.Finding) {
	refuse := func(code finding.Code, name string, args finding.Args, remedies ...finding.Remedy) {
		all = append(all, s.finds(code, name, args, remedies...))
	}
	switch {
	case r.Backup != "":
	case s.Own.HasRaftLeader:
		refuse(finding.RecoveryHasQuorum, s.Unit, finding.Args{})
	case s.Own.Damage != "":
		refuse(finding.RecoveryCopyDamaged, s.Unit, finding.Quote(s.Own.Damage).Args(), finding.ByHand(finding.RunElsewhere))
	}
	if len(s.Serving) > 0 && r.Backup == "" {
		// After the loss of its leader a server reports a connection for up to twice its election timer, which is at most
		// 60 s (raft_is_connected() in ovsdb/raft.c).
		refuse(finding.RecoveryHasQuorum, strings.Join(s.Serving, ", "), finding.Args{})
	}
	if r.Force && len(r.GivenUp) == 0 {
		refuse(finding.RecoveryForceUnnamed, "", finding.Args{})
	}
	return all
}

// mustStop returns the finding that the request of the unit asked waits until another unit's server is stopped. While
// that server answers, its machine is on, and its next hook stops it; only afterwards may the unit be given up.
func (s State) mustStop(r Request, asked, unit string) finding.Finding {
	remedies := []finding.Remedy{s.without(r, asked, unit)}
	if s.Request != nil && asked == s.Unit {
		remedies = append(remedies, finding.If(finding.ToWithdraw, takeBack(asked)))
	}
	if slices.ContainsFunc(s.Members, func(m Member) bool { return m.Unit == unit && m.Answers }) {
		remedies = []finding.Remedy{finding.If(finding.BeforeHook, command.RunHook(unit))}
	}
	return s.finds(finding.RecoveryNotStopped, unit, finding.Args{Unit: asked}, remedies...)
}

// inOrder returns the judged members and units in the order of the units.
func (s State) inOrder() []Member {
	return slices.SortedFunc(slices.Values(s.judged()), func(a, b Member) int {
		return cmp.Or(unitname.Compare(a.Unit, b.Unit), cmp.Compare(a.ID, b.ID))
	})
}

// final reports whether a member's published copy is its last one, since its server is off. While this unit's own
// server runs, a member that does not answer was not stopped for this request. Afterwards it may have been stopped,
// but may not have published its last entry yet. Only members in this unit's file are known to answer.
func (s State) final(m Member, c Copy) bool {
	return c.Stopped || m.ID != "" && !m.Answers && !s.Own.Stopped
}

func (s State) says(line finding.Line, args finding.Args) finding.Statement {
	return finding.Statement{Database: s.Database, Line: line, Args: args}
}

// plan states what will be done, and which data is lost.
func (j *judging) plan() {
	s, r := j.s, j.r
	n, args := len(s.Members), finding.Args{Unit: s.Unit, Value: s.Own.end(), Path: r.Backup, Cluster: string(s.Cluster)}
	all, made := s.copies(r), finding.MadeOfFile
	if r.Backup != "" {
		all, made = nil, finding.MadeOfBackup
	}
	all = append(all, s.says(made, args))
	if len(j.joining) > 0 {
		all = append(all, s.says(finding.OthersJoin, finding.Args{Units: j.joining}))
	}
	if len(j.away) > 0 {
		all = append(all, s.says(finding.OthersStayOff, finding.Args{Units: j.away}))
	}
	if r.Backup == "" {
		all = append(all, s.forced(r)...)
	}
	line, lost := finding.LosesUnknown, finding.Args{Count: n - j.looked, Total: n}
	switch {
	case r.Backup != "":
		line = finding.LosesSinceBackup
	case surelyComplete(n, j.looked):
		line, lost.Count = finding.LosesNothing, j.looked
	case j.looked+s.givenUp(r) == n:
		line = finding.LosesGivenUp
	}
	j.Plan = append(all, s.says(line, lost))
}

func (s State) givenUp(r Request) (n int) {
	for _, m := range s.Members {
		if m.Unit != s.Unit && r.givesUp(m) {
			n++
		}
	}
	return n
}

// surelyComplete reports whether the newest of some copies, out of n members, has every committed entry. A majority has
// stored each entry, so the newest copy has them all if every majority includes one of the copies.
func surelyComplete(n, copies int) bool { return copies+n/2+1 > n }

func (m Member) name() string {
	short := m.ID.Short()
	if m.Unit == "" {
		return short + " (unknown unit)"
	}
	if !m.Exists {
		return short + " (was " + m.Unit + ")"
	}
	return m.Unit
}

// givesUp reports whether the request names the member, by its unit or its identity.
func (r Request) givesUp(m Member) bool {
	return slices.ContainsFunc(r.GivenUp, func(name string) bool {
		found, _ := raft.Resolve(raft.IDArgument{Text: name}, []raft.Peer{{ID: m.ID}})
		return len(found.Peers) > 0 || m.Unit != "" && name == m.Unit
	})
}

// Named returns the typed names of units and members in the form in which a request gives them up. An ID that Juju
// took for a number becomes the ID of the only member that the number can mean, if there is exactly one.
func (s State) Named(typed []raft.IDArgument) []string {
	peers := make([]raft.Peer, len(s.Members))
	for i, m := range s.Members {
		peers[i] = raft.Peer{ID: m.ID}
	}
	var names []string
	for _, given := range typed {
		name := given.Text
		if found, _ := raft.Resolve(given, peers); given.Number && len(found.Peers) == 1 {
			name = string(found.Peers[0].ID)
		}
		names = append(names, name)
	}
	return names
}

// WithUnits adds to a request's names the units whose members it names completely by their identities: once there is
// a new cluster, the identities of the old one no longer show which units may be missing.
func (s State) WithUnits(r Request) Request {
	given, kept := map[string]bool{}, map[string]bool{}
	for _, m := range s.Members {
		if r.givesUp(m) {
			given[m.Unit] = true
		} else {
			kept[m.Unit] = true
		}
	}
	maps.DeleteFunc(given, func(unit string, _ bool) bool { return unit == "" || unit == s.Unit || kept[unit] })
	return r.Repeated(slices.Sorted(maps.Keys(given)), false)
}

// Repeated returns the request with more given up units: a command may be repeated because more units were lost.
func (r Request) Repeated(givenUp []string, force bool) Request {
	r.GivenUp, r.Force = slices.Clone(r.GivenUp), r.Force || force
	for _, name := range givenUp {
		if !slices.Contains(r.GivenUp, name) {
			r.GivenUp = append(r.GivenUp, name)
		}
	}
	return r
}

// Unknown returns the names in the request that belong neither to a member nor to another unit of the model. A unit
// may be lost before it has joined: then the new cluster waits for it unless it is given up.
func (s State) Unknown(r Request) []string {
	return slices.DeleteFunc(slices.Clone(r.GivenUp), func(name string) bool {
		return s.peer(name) != nil ||
			slices.ContainsFunc(s.judged(), func(m Member) bool { return Request{GivenUp: []string{name}}.givesUp(m) })
	})
}
