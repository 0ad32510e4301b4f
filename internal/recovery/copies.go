package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// end is how far a copy goes, for people.
func (c Copy) end() string { return fmt.Sprintf("term %d, index %d", c.Term, c.Index) }

// copies are what is known of the copies that there are, a statement for each: which could not
// be asked, and, if each was, whose is the newest.
func (s State) copies(r Request) (all []finding.Statement) {
	newest, judged, allKnown := *s.Own, s.inOrder(), true
	for _, m := range judged {
		c := s.copyOf(m.Unit)
		if c == nil || c.HasRaftLeader && m.Unit != s.Unit {
			allKnown = false
		} else if c.newer(newest) {
			newest = *c
		}
	}
	for _, m := range judged {
		c, known := s.copyOf(m.Unit), s.says(finding.CopyEnds, finding.Args{})
		known.Name = strings.TrimSuffix(m.name(), ",")
		switch {
		case c == nil && m.Answers:
			known.Line = finding.CopyUnreported
		case c == nil:
			known.Line = finding.CopyUnknown
		case c.HasRaftLeader && m.Unit != s.Unit && m.Answers:
			known.Line = finding.CopyLed
		case c.HasRaftLeader && m.Unit != s.Unit:
			known.Line = finding.CopyLastLed
		default:
			known.Args.Value = c.end()
			if allKnown && !newest.newer(*c) {
				known.More = append(known.More, finding.AddNewest)
			}
			if m.Unit != s.Unit && !m.Answers && !c.Stopped {
				known.More = append(known.More, finding.AddLastReported)
			}
			if c.Damage != "" {
				known.More = append(known.More, finding.AddDamaged)
			}
		}
		if r.givesUp(m) {
			known.More = append(known.More, finding.AddGivenUp)
		}
		all = append(all, known)
	}
	return all
}

// forced returns what is lost of units that are given up though they had more.
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

// givesUp reports whether the request names a unit, or a member that it has.
func (s State) givesUp(r Request, unit string) bool {
	return slices.Contains(r.GivenUp, unit) || slices.ContainsFunc(s.Members, func(m Member) bool { return m.Unit == unit && r.givesUp(m) })
}
