package report

import (
	"fmt"
	"strings"
	"time"
)

// Seconds is a duration of s seconds as a person reads it.
func Seconds(s float64) string {
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
		line += fmt.Sprintf("; term %d, seen for %s", s.Term, Seconds(s.HeldSeconds))
	}
	if s.Previous != "" {
		line += "; before that " + s.Previous
	}
	return line
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

// OrphanLines are the orphans, a line each, for a person.
func (g GatewayStatus) OrphanLines() (all []string) {
	for _, o := range g.Orphans {
		all = append(all, o.Where+": "+o.Text)
	}
	return all
}
