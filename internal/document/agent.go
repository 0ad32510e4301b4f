package document

import (
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// shownAdvice limits the shown planned changes of gateways.
const shownAdvice = 20

// Agent renders the state of an agent.
func Agent(s report.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lease: %s\nmode: %s\n", s.Lease(), s.Mode)
	for database, why := range map[string]string{"Northbound": s.Northbound, "Southbound": s.Southbound} {
		if why != "" {
			fmt.Fprintf(&b, "%s database: cannot be used: %s\n", database, why)
		}
	}
	if problem := s.Problem(); problem != "" {
		fmt.Fprintf(&b, "agent: %s\n", problem)
	}
	if s.Northd != "" {
		fmt.Fprintf(&b, "%s: this unit does not act\n", s.Northd)
	}
	for _, p := range s.Peers {
		switch {
		case p.Error != "":
			fmt.Fprintf(&b, "agent %s %s: %s\n", p.Address, p.Unit, p.Error)
		case p.AnsweredSecondsAgo >= 0:
			fmt.Fprintf(&b, "agent %s %s: answered %s ago\n", p.Address, p.Unit, report.Seconds(p.AnsweredSecondsAgo))
		}
	}
	for _, c := range s.WrongClocks() {
		fmt.Fprintln(&b, c)
	}
	for _, d := range s.Drains {
		fmt.Fprintf(&b, "%s, for %s\n", d.Line(), report.Seconds(d.ForSeconds))
	}
	return b.String() + agentGateways(s.Gateways)
}

func agentGateways(g report.GatewayStatus) string {
	var b strings.Builder
	if g.LookedSecondsAgo < 0 {
		fmt.Fprintf(&b, "gateways: not seen yet %s\n", g.Error)
		return b.String()
	}
	fmt.Fprintf(&b, "gateways: %d on %d chassis, as of %s ago\n", g.Gateways, g.Chassis,
		report.Seconds(g.LookedSecondsAgo))
	if g.Error != "" {
		fmt.Fprintf(&b, "cannot read gateways now: %s\n", g.Error)
	}
	if g.Planned > 0 {
		fmt.Fprintf(&b, "to be scheduled for %s: %s\n", report.Seconds(g.AdvisedSeconds),
			schedule.Count(g.Planned, "gateway"))
	}
	for i, a := range g.Advice {
		if i == shownAdvice {
			fmt.Fprintf(&b, "  … and %d more\n", g.Planned-i)
			break
		}
		owner := ""
		if a.Neutron {
			owner = "; Neutron's"
		}
		fmt.Fprintf(&b, "  %s: %s -> %s (%s%s)\n", a.Gateway, strings.Join(a.Before, ","), strings.Join(a.After, ","),
			a.Reason, owner)
	}
	for _, h := range g.HeldDown {
		fmt.Fprintf(&b, "held down: %s for another %s\n", h.Name, report.Seconds(h.ForSeconds))
	}
	for _, name := range g.Left {
		fmt.Fprintf(&b, "not changed by the agent, since Neutron undoes its changes: %s\n", name)
	}
	if g.Last != nil {
		fmt.Fprintf(&b, "done %s ago: %s, %d interrupted: %s\n", report.Seconds(g.Last.SecondsAgo),
			schedule.Count(g.Last.Gateways, "gateway"), g.Last.Interruptions, strings.Join(g.Last.Reasons, "; "))
	}
	if g.LastError != "" {
		fmt.Fprintf(&b, "failed: %s\n", g.LastError)
	}
	for _, o := range g.OrphanLines() {
		fmt.Fprintf(&b, "orphan: %s\n", o)
	}
	return b.String()
}

// Answer renders the result of an operation: a line for each step, the outcome, and the commands to run next.
func Answer(s answer.Status) string {
	var b, next strings.Builder
	for _, m := range s.Details.MessageList {
		switch {
		case m.Kind == answer.MessageNext:
			fmt.Fprintf(&next, "next: %s\n", m.Message)
		case m.Error:
			fmt.Fprintf(&b, "error  %s: %s\n", m.Name, m.Message)
		default:
			fmt.Fprintf(&b, "ok     %s: %s\n", m.Name, m.Message)
		}
	}
	fmt.Fprintf(&b, "%s (%d %s): %s\n", s.Status, s.Code, s.Reason, s.Message)
	return b.String() + next.String()
}
