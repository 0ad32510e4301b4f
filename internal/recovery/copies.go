package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

func (c Copy) end() string { return fmt.Sprintf("term %d, index %d", c.Term, c.Index) }

// copies returns a statement about each copy. The newest is marked only if all are known.
func (s State) copies(r Request) (all []finding.Statement) {
	judged, newest := s.inOrder(), s.newest()
	for _, m := range judged {
		c, known := s.copyOf(m.Unit), s.says(finding.CopyEnds, finding.Args{})
		known.Name = strings.TrimSuffix(m.name(), ",")
		led := c != nil && c.HasRaftLeader && m.Unit != s.Unit
		switch {
		case c == nil && m.Answers:
			known.Line = finding.CopyUnreported
		case c == nil:
			known.Line = finding.CopyUnknown
		case led && m.Answers:
			known.Line = finding.CopyLed
		case led:
			known.Line = finding.CopyLastLed
		default:
			known.Args.Value = c.end()
			known.More = s.about(m, *c, newest)
		}
		if r.givesUp(m) {
			known.More = append(known.More, finding.AddGivenUp)
		}
		all = append(all, known)
	}
	return all
}

// newest returns the newest of all copies; nil if one is unknown.
func (s State) newest() *Copy {
	newest := s.Own
	for _, m := range s.inOrder() {
		c := s.copyOf(m.Unit)
		if c == nil || c.HasRaftLeader && m.Unit != s.Unit {
			return nil
		}
		if c.newer(*newest) {
			newest = c
		}
	}
	return newest
}

// about returns the additions to the statement about a member's copy.
func (s State) about(m Member, c Copy, newest *Copy) (more []finding.Line) {
	if newest != nil && !newest.newer(c) {
		more = append(more, finding.AddNewest)
	}
	if m.Unit != s.Unit && !m.Answers && !c.Stopped {
		more = append(more, finding.AddLastReported)
	}
	if c.Damage != "" {
		more = append(more, finding.AddDamaged)
	}
	return more
}

// forced returns the losses of data that units had which are given up by force.
func (s State) forced(r Request) (all []finding.Statement) {
	for _, m := range s.inOrder() {
		c := s.copyOf(m.Unit)
		if c == nil || m.Unit == s.Unit || !r.Force || !r.givesUp(m) || !c.HasRaftLeader && !c.newer(*s.Own) {
			continue
		}
		lost := s.says(finding.GivenUpWithMore, finding.Args{Value: s.Own.end(), Other: c.end()})
		if c.HasRaftLeader {
			lost.Line = finding.GivenUpWithALead
		}
		lost.Name = m.name()
		all = append(all, lost)
	}
	return all
}

// givesUp reports whether the request names the unit, or one of its members.
func (s State) givesUp(r Request, unit string) bool {
	return slices.Contains(r.GivenUp, unit) || slices.ContainsFunc(s.Members,
		func(m Member) bool { return m.Unit == unit && r.givesUp(m) })
}
