package recovery

import (
	"fmt"
	"slices"
	"strings"
)

// end is how far a copy goes, for people.
func (c Copy) end() string { return fmt.Sprintf("term %d, index %d", c.Term, c.Index) }

// copies are what is known of the copies that there are, a line for each: which could not
// be asked, and, if each was, whose is the newest.
func (s State) copies(r Request) (lines []string) {
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
		c, name := s.copyOf(m.Unit), strings.TrimSuffix(m.name(), ",")
		var line string
		switch {
		case c == nil && m.Answers:
			line = fmt.Sprintf("copy of %s: not known; its server answers, and its next update-status reports it", name)
		case c == nil:
			line = fmt.Sprintf("copy of %s: not known, it can't be asked", name)
		case c.HasRaftLeader && m.Unit != s.Unit:
			line = fmt.Sprintf("copy of %s: not known, since it has a leader", name)
			if !m.Answers {
				line = fmt.Sprintf("copy of %s: not known; it had a leader when it last reported, and its server does not answer", name)
			}
		default:
			line = fmt.Sprintf("copy of %s: %s", name, c.end())
			if allKnown && !newest.newer(*c) {
				line += ", the newest"
			}
			if m.Unit != s.Unit && !m.Answers && !c.Stopped {
				line += ", as last reported; its server does not answer"
			}
			if c.Damage != "" {
				line += ", damaged"
			}
		}
		if r.givesUp(m) {
			line += "; given up"
		}
		lines = append(lines, s.Database.Short()+": "+line)
	}
	return lines
}

// forced says what is lost of units that are given up though they had more.
func (s State) forced(r Request) (lines []string) {
	for _, m := range s.inOrder() {
		c := s.copyOf(m.Unit)
		if c == nil || m.Unit == s.Unit || !r.Force || !r.givesUp(m) || !c.HasRaftLeader && !c.newer(*s.Own) {
			continue
		}
		had := c.end() + " when it last reported"
		if c.HasRaftLeader {
			had = "a leader when it last reported, and may have stored more since"
		}
		lines = append(lines, fmt.Sprintf("%s: what %s has beyond %s is lost: it had %s", s.Database.Short(), m.name(), s.Own.end(), had))
	}
	return lines
}

// givesUp says whether the request names a unit, or a member that it has.
func (s State) givesUp(r Request, unit string) bool {
	return slices.Contains(r.GivenUp, unit) || slices.ContainsFunc(s.Members, func(m Member) bool { return m.Unit == unit && r.givesUp(m) })
}
