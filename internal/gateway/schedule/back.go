package schedule

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Revert brings groups back to the candidates that they had before an earlier plan. It moves a master only to a
// schedulable candidate unless new candidates are allowed, and keeps candidates that a group needs to reach
// [MaxCandidates]. It leaves groups that another client has changed since.
func Revert(s State, o Options, taken []AppliedChange) Plan {
	why := [2]finding.ReasonCode{finding.AsBeforePlan, finding.NotBeforePlan}
	return bringBack(s, o, taken, revert, why)
}

// Restore brings gateways back to earlier candidates, given best first, by the rules of [Revert]. Its findings name the
// gateways that it can't fully restore.
func Restore(s State, o Options, layout map[string][]string) Plan {
	now := groupsByName(s)
	var taken []AppliedChange
	for name, chassis := range layout {
		if g, there := now[name]; !there || !slices.Equal(g.Ranked(), chassis) {
			taken = append(taken, AppliedChange{Group: name, Before: prioritized(nil, chassis), After: g.Candidates})
		}
	}
	why := [2]finding.ReasonCode{finding.AsInRevision, finding.NotInRevision}
	p := bringBack(s, o, taken, restore, why)
	found := map[string]bool{}
	for _, f := range p.Findings {
		found[f.Subject.Name] = true
	}
	now = groupsByName(s.with(p.Changes))
	for _, t := range taken {
		g, there := now[t.Group]
		was, is := layout[t.Group], g.Ranked()
		if there && !found[t.Group] && !o.Hold[t.Group] && !slices.Equal(is, was) {
			p.Findings = append(p.Findings, finding.About(finding.GatewayNotRestored, t.Group,
				finding.Reason{Code: finding.RanksDiffer, Value: fmt.Sprint(was), Name: fmt.Sprint(is)}.Args()))
		}
	}
	p.Findings = SortFindings(p.Findings)
	return p
}

// bringBack plans for [Revert] and [Restore]. why has the reasons for candidates that stay or come back, and for those
// that go.
func bringBack(s State, o Options, taken []AppliedChange, operation string,
	why [2]finding.ReasonCode,
) Plan {
	in := newInstance(s)
	in.hold(o)
	before := in.networkReports()
	left := o.MaxMoves
	for _, t := range byGroup(taken) {
		g := in.groupNamed(t.Group)
		if g == nil {
			in.findUnrestorable(t.Group)
			continue
		}
		order := in.orderBefore(g, o, t)
		if order == nil || g.held {
			continue
		}
		if moves := len(g.was) > 0 && order[0] != g.was[0]; moves && o.MaxMoves > 0 {
			if left == 0 {
				in.find(finding.MovesUsedUp, t.Group, finding.Args{Count: o.MaxMoves})
				continue
			}
			left--
		}
		g.order = order
		for _, c := range slices.Concat(g.was, order) {
			g.reasons[in.chassis[c].Name] = finding.Reason{Code: why[btoi(!g.has(c))]}
		}
	}
	in.findLostFollowers()
	return in.plan(operation, o, before)
}

// findUnrestorable finds why nothing is planned for a group. There is no finding for external ports: they follow their
// router.
func (in *instance) findUnrestorable(name string) {
	switch {
	case slices.ContainsFunc(in.externals, func(x *group) bool { return x.Name == name }):
	case slices.ContainsFunc(in.unplanned, func(x Group) bool { return x.Name == name }):
		in.find(finding.GatewayNotRestored, name, finding.Args{Reasons: finding.Because(finding.HostsUnrecorded)})
	default:
		in.find(finding.GatewayGone, name, finding.Args{})
	}
}

// orderBefore returns the order that a group's candidates had before the change, or nil to leave the group as it is.
func (in *instance) orderBefore(g *group, o Options, t AppliedChange) (order []int) {
	was, is := Ranked(t.Before), g.Ranked()
	switch {
	case slices.Equal(was, is):
		return nil // already restored
	case !slices.Equal(Ranked(t.After), is):
		in.find(finding.CandidatesChanged, g.Name, finding.Args{})
		return nil
	case len(was) == 0:
		in.find(finding.GatewayNotRestored, g.Name, finding.Args{Reasons: finding.Because(finding.HadNone)})
		return nil
	}
	for i, name := range was {
		c, found := in.number[name]
		switch {
		case !found || !g.class.eligible[c]:
			why := finding.Reason{Code: finding.CanNoLonger, Name: name, Because: []finding.Reason{in.invalid(g, name)}}
			in.find(finding.GatewayNotRestored, g.Name, finding.Args{Value: name, Reasons: []finding.Reason{why}})
		case !g.accepts(c) && (i == 0 || !g.has(c)):
			why := finding.Reason{
				Code: finding.Unschedulable, Name: name, Because: finding.Because(unavailable(in.chassis[c])),
			}
			in.find(finding.GatewayNotRestored, g.Name, finding.Args{Value: name, Reasons: []finding.Reason{why}})
		case i == 0 && !g.has(c) && !o.AllowNewCandidates:
			in.find(finding.NewCandidateNeeded, g.Name, finding.Args{Value: name})
		default:
			order = append(order, c)
			continue
		}
		if i == 0 {
			return nil
		}
	}
	for _, c := range g.was {
		if !slices.Contains(order, c) {
			order = append(order, c)
		}
	}
	order = order[:min(len(order), max(MaxCandidates, len(was)))]
	if slices.Equal(order, g.was) {
		return nil // only added candidates differ, and a reschedule would add them again
	}
	return order
}

// Undrain gives a chassis its ranks back in the groups that still have it. If only drains have changed a group since,
// all its candidates get their ranks back, except chassis that can't host it now. Otherwise only the drained chassis
// gets its rank back, and never a worse rank than it has.
func Undrain(s State, chassis string, taken []AppliedChange) Plan {
	in := newInstance(s)
	p := Plan{Operation: OperationUndrain, Chassis: chassis, Changes: []Change{}}
	p.Before = in.networkReports()
	groups := groupsByName(s)
	for _, t := range byGroup(taken) {
		g, found := groups[t.Group]
		if !found {
			p.Blocked = append(p.Blocked, finding.About(finding.GatewayGone, t.Group, finding.Args{}))
			continue
		}
		names, code, why := in.undrained(g, chassis, t)
		if in.isStray(g, prioritized(nil, names)) {
			names, code, why = nil, finding.GatewayNotRestored, finding.Reason{Code: finding.WouldStray, Name: chassis}
		}
		if code != "" {
			p.Blocked = append(p.Blocked, finding.About(code, t.Group, finding.Args{
				Value: chassis, Reasons: []finding.Reason{why},
			}))
		}
		if names == nil {
			continue
		}
		reasons := map[string]finding.Reason{}
		for _, name := range g.Ranked() {
			reasons[name] = finding.Reason{Code: finding.NotBeforeDrain, Name: chassis}
		}
		for _, name := range names {
			reasons[name] = finding.Reason{Code: finding.AsBeforeDrain, Name: chassis}
		}
		in.add(&p, g, names, reasons)
	}
	p.After = newInstance(s.with(p.Changes)).networkReports()
	p.Findings = SortFindings(in.findings)
	p.Cost = costOf(p.Changes)
	return p
}

// undrained returns the candidates that a group gets when the chassis is back, best first, or nil to leave the group as
// it is. If the code is not empty, it makes a finding, with why as the reason.
func (in *instance) undrained(
	g Group, chassis string, t AppliedChange,
) (names []string, code finding.Code, why finding.Reason) {
	base, now := distinct(Ranked(t.Before)), g.Ranked()
	at := slices.Index(base, chassis)
	shut := func(name string) bool { return !in.closed(g, name).IsZero() }
	about := func(code finding.ReasonCode) finding.Reason { return finding.Reason{Code: code, Name: chassis} }
	switch {
	case at < 0:
		return nil, "", finding.Reason{}
	case !slices.Contains(now, chassis):
		return nil, finding.GatewayNotRestored, about(finding.NoLongerCandidate)
	case shut(chassis):
		why = about(finding.CannotReturn)
		why.Because = []finding.Reason{in.closed(g, chassis)}
		return nil, finding.GatewayNotRestored, why
	}
	if slices.Equal(now, Ranked(t.After)) {
		rises := func(name string) bool { return shut(name) && rises(name, now, base, shut) }
		rising := filter(base, rises)
		return append(slices.DeleteFunc(slices.Clone(base), rises), rising...), "", finding.Reason{}
	}
	rest := without(now, chassis)
	place := slices.IndexFunc(rest, func(name string) bool { return slices.Contains(base[at+1:], name) })
	if place < 0 {
		place = len(rest)
	}
	place = min(place, slices.Index(now, chassis))
	return slices.Insert(rest, place, chassis), finding.CandidatesChanged, about(finding.OnlyItsRank)
}

// closed returns why a chassis can't take a group over, whatever its marks and zones; no reason if it can.
func (in *instance) closed(g Group, name string) finding.Reason {
	n, found := in.number[name]
	if !found {
		return finding.Reason{Code: finding.ChassisAbsent}
	}
	c := in.chassis[n]
	network := g.unconnected(c)
	switch {
	case c.alien() != "":
		return finding.Reason{Code: c.alien()}
	case network != "":
		return finding.Reason{Code: finding.ChassisUnconnected, Value: network}
	}
	return finding.Reason{Code: unavailable(c)}
}

// rises reports whether a chassis would get ahead of another one that can host and that is ahead of it now.
func rises(name string, now, then []string, shut func(string) bool) bool {
	at := slices.Index(now, name)
	for _, other := range then[slices.Index(then, name)+1:] {
		if i := slices.Index(now, other); !shut(other) && i >= 0 && (at < 0 || i < at) {
			return true
		}
	}
	return false
}

func byGroup(taken []AppliedChange) []AppliedChange {
	return slices.SortedFunc(slices.Values(taken), func(a, b AppliedChange) int { return CompareNames(a.Group, b.Group) })
}

func groupsByName(s State) map[string]Group {
	groups := map[string]Group{}
	for _, g := range s.Groups {
		groups[g.Name] = g
	}
	return groups
}

func (s State) with(changes []Change) State {
	after := map[string][]Candidate{}
	for _, c := range changes {
		after[c.Group] = c.After
	}
	s.Groups = slices.Clone(s.Groups)
	for i, g := range s.Groups {
		if candidates, changed := after[g.Name]; changed {
			s.Groups[i].Candidates = candidates
		}
	}
	return s
}
