package report

import (
	"fmt"
	"strings"
	"time"
)

// shownAdvice is how many gateways a person is shown of what is to be done.
const shownAdvice = 20

// seconds is a duration as a person reads it.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Minute:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	case d >= time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// Lease is one line: which unit acts.
func (s Status) Lease() string {
	line := "no unit is known to act"
	if s.Acting != "" {
		line = s.Acting + " acts for gateways"
		if s.Acts {
			line += " (this unit)"
		}
	}
	if s.Term > 0 {
		line += fmt.Sprintf("; term %d, seen for %s", s.Term, seconds(s.HeldSeconds))
	}
	if s.Previous != "" {
		line += "; before that " + s.Previous
	}
	return line
}

// Text is what a person is shown.
func (s Status) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lease: %s\nmode: %s\n", s.Lease(), s.Mode)
	for database, why := range map[string]string{"Northbound": s.Northbound, "Southbound": s.Southbound} {
		if why != "" {
			fmt.Fprintf(&b, "%s database: cannot be used: %s\n", database, why)
		}
	}
	if s.Northd != "" {
		fmt.Fprintf(&b, "%s: this unit does not act\n", s.Northd)
	}
	for _, p := range s.Peers {
		switch {
		case p.Error != "":
			fmt.Fprintf(&b, "agent %s %s: %s\n", p.Address, p.Unit, p.Error)
		case p.AnsweredSecondsAgo >= 0:
			fmt.Fprintf(&b, "agent %s %s: answered %s ago\n", p.Address, p.Unit, seconds(p.AnsweredSecondsAgo))
		}
	}
	for _, c := range s.WrongClocks() {
		fmt.Fprintln(&b, c)
	}
	for _, d := range s.Drains {
		fmt.Fprintf(&b, "%s, for %s\n", d.Line(), seconds(d.ForSeconds))
	}
	s.Gateways.text(&b)
	return b.String()
}

// State is done, stalled or running.
func (d Drain) State() string {
	switch {
	case d.Done:
		return "done"
	case d.Stalled:
		return "stalled"
	}
	return "running"
}

// Line says in a line where the drain is.
func (d Drain) Line() string {
	switch d.State() {
	case "done":
		return d.Node + " is drained"
	case "stalled":
		return fmt.Sprintf("drain of %s STALLED: %s", d.Node, d.Text)
	}
	return fmt.Sprintf("draining %s: %s", d.Node, d.Text)
}

func (g GatewayStatus) text(b *strings.Builder) {
	if g.LookedSecondsAgo < 0 {
		fmt.Fprintf(b, "gateways: not seen yet %s\n", g.Error)
		return
	}
	fmt.Fprintf(b, "gateways: %d on %d chassis, as of %s ago\n", g.Gateways, g.Chassis, seconds(g.LookedSecondsAgo))
	if g.Error != "" {
		fmt.Fprintf(b, "gateways can't be seen now: %s\n", g.Error)
	}
	if g.Planned > 0 {
		fmt.Fprintf(b, "to be scheduled for %s: %d gateways\n", seconds(g.AdvisedSeconds), g.Planned)
	}
	for i, a := range g.Advice {
		if i == shownAdvice {
			fmt.Fprintf(b, "  … and %d more\n", g.Planned-i)
			break
		}
		owner := ""
		if a.Neutron {
			owner = "; Neutron's"
		}
		fmt.Fprintf(b, "  %s: %s -> %s (%s%s)\n", a.Gateway, strings.Join(a.Before, ","), strings.Join(a.After, ","), a.Reason, owner)
	}
	for _, h := range g.HeldDown {
		fmt.Fprintf(b, "held down: %s for another %s\n", h.Name, seconds(h.ForSeconds))
	}
	for _, name := range g.Left {
		fmt.Fprintf(b, "left to Neutron, which undoes what is done there: %s\n", name)
	}
	if g.Last != nil {
		fmt.Fprintf(b, "done %s ago: %d gateways, %d interrupted: %s\n", seconds(g.Last.SecondsAgo), g.Last.Gateways, g.Last.Interruptions, strings.Join(g.Last.Reasons, "; "))
	}
	if g.LastError != "" {
		fmt.Fprintf(b, "failed: %s\n", g.LastError)
	}
	for _, o := range g.OrphanLines() {
		fmt.Fprintf(b, "orphan: %s\n", o)
	}
}

// OrphanLines are the orphans, a line each, for a person.
func (g GatewayStatus) OrphanLines() (all []string) {
	for _, o := range g.Orphans {
		all = append(all, o.Where+": "+o.Text)
	}
	return all
}
