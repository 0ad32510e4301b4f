package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// Plan renders a plan: the state before and after, each change with its reason, and the proofs that no smaller plan
// suffices.
func Plan(p schedule.Plan) string {
	var b strings.Builder
	serious, others := bySeverity(p.Findings)
	b.WriteString(serious)
	fmt.Fprintln(&b, summary(p))
	for i, n := range p.After {
		b.WriteString("\n" + network(p.Before[i], n))
		for _, bound := range p.Bounds {
			if bound.Network == n.Name {
				fmt.Fprintf(&b, "%s, spread %d: %s\n", schedule.Count(bound.Moves, "move"), bound.Spread, bound.Proof)
			}
		}
	}
	if !p.Empty() {
		b.WriteString("\nchanges (rank 1 hosts the gateway, 2 is the first to take over)\n")
	}
	for _, c := range slices.SortedStableFunc(slices.Values(p.Changes), interruptingFirst) {
		b.WriteString(change(c))
	}
	b.WriteString(more("  ", p.Omitted, ""))
	if len(p.Blocked) > 0 {
		b.WriteString("\nblocked\n")
	}
	b.WriteString(findings(p.Blocked) + more("  ", p.OmittedBlocked, ""))
	b.WriteString(problems(others, p.OmittedFindings))
	if p.ReviewID != "" {
		fmt.Fprintf(&b, "\nreview-id %s: with it the plan is carried out only as it is here\n", p.ReviewID)
	}
	for _, command := range p.Next {
		fmt.Fprintf(&b, "\nnext: %s\n", command)
	}
	return b.String()
}

// more returns a line with the number of omitted items; empty if none is omitted.
func more(before string, omitted int, what string) string {
	if omitted == 0 {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf("%s… and %d more %s", before, omitted, what), " ") + "\n"
}

// bySeverity returns the errors as the beginning of a text, and the other findings.
func bySeverity(all []finding.Finding) (errors string, others []finding.Finding) {
	serious := func(f finding.Finding) bool { return f.Severity == finding.Error }
	var first []finding.Finding
	for _, f := range all {
		if serious(f) {
			first = append(first, f)
		}
	}
	for _, line := range present.Lines(juju.Version{}, first) {
		errors += line + "\n"
	}
	if errors != "" {
		errors += "\n"
	}
	return errors, slices.DeleteFunc(slices.Clone(all), serious)
}

func problems(all []finding.Finding, omitted int) string {
	if len(all) == 0 {
		return ""
	}
	return "\nproblems\n" + findings(all) + more("  ", omitted, "")
}

func findings(all []finding.Finding) string {
	var b strings.Builder
	for _, line := range present.Lines(juju.Version{}, all) {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

func summary(p schedule.Plan) string {
	what := p.Operation
	if p.Chassis != "" {
		what += " " + p.Chassis
	}
	if p.Empty() {
		return what + ": nothing to do"
	}
	return what + ": " + cost(p.Cost)
}

func cost(c schedule.Cost) string {
	interrupts := "interrupts nothing"
	switch {
	case c.Interruptions == 1:
		interrupts = "interrupts 1 gateway for about a second"
	case c.Interruptions > 1:
		interrupts = fmt.Sprintf("interrupts %d gateways for about a second each", c.Interruptions)
	}
	return fmt.Sprintf("%s and %s change; %s", schedule.Count(c.Gateways, "gateway"), schedule.Count(c.Rows, "row"),
		interrupts)
}

func network(before, after schedule.Network) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", after.Name, schedule.Count(after.Ports, "gateway"))
	if after.Pinned() > 0 {
		fmt.Fprintf(&b, " and %d pinned", after.Pinned())
	}
	if after.Unhosted > 0 {
		fmt.Fprintf(&b, ", %s", becomes(before.Unhosted, after.Unhosted)+" on no chassis that responds")
	}
	b.WriteString("\n")
	rows := []string{"  chassis\thosts\tshould host\tshare\tbackups\tif it fails\tbest\t"}
	byName := func(a, b schedule.Host) int { return schedule.CompareNames(a.Chassis, b.Chassis) }
	for _, h := range slices.SortedFunc(slices.Values(after.Hosts), byName) {
		was := schedule.Host{}
		if i := slices.IndexFunc(before.Hosts, func(o schedule.Host) bool { return o.Chassis == h.Chassis }); i >= 0 {
			was = before.Hosts[i]
		}
		rows = append(rows, fmt.Sprintf("  %s\t%d\t%s\t%s %%\t%s\t%s\t%d\t%s", name(h), h.Hosts,
			becomes(was.Masters, h.Masters), becomes(was.Share, h.Share), becomes(was.Backups, h.Backups),
			becomes(was.Failure.Most, h.Failure.Most), h.Failure.Best, remark(h)))
	}
	return b.String() + table(rows) + more("  ", after.Omitted, "chassis")
}

func name(h schedule.Host) string {
	if h.Hostname == "" || h.Hostname == h.Chassis {
		return h.Chassis
	}
	return h.Chassis + " (" + h.Hostname + ")"
}

func remark(h schedule.Host) string {
	var remarks []string
	if h.Unschedulable != "" {
		remarks = append(remarks, "unschedulable: "+h.Unschedulable)
	}
	if h.Failure.Lost > 0 {
		remarks = append(remarks, "no failover for "+schedule.Count(h.Failure.Lost, "gateway"))
	}
	return strings.Join(remarks, "; ")
}

// interruptingFirst orders changes: first those that interrupt traffic, then by name.
func interruptingFirst(a, b schedule.Change) int {
	if a.Interrupts == b.Interrupts {
		return schedule.CompareNames(a.Group, b.Group)
	}
	if a.Interrupts {
		return -1
	}
	return 1
}

// change renders the change of a gateway. Candidates whose ranks change have a line, even if their rows do not change:
// others came before them, or have gone.
func change(c schedule.Change) string {
	var b strings.Builder
	what := c.From() + " stays"
	switch {
	case c.From() == "":
		what = "hosted on " + c.To()
	case c.From() != c.To():
		what = c.From() + " -> " + c.To()
		if c.Arrived() {
			what += " (bound to " + c.To() + " already)"
		}
	}
	fmt.Fprintf(&b, "  %s: %s\n", c.Group, what)
	rows := c.Rows
	for i, kept := range c.After {
		if len(rows) > 0 && rows[0].After != nil && rows[0].Chassis == kept.Chassis {
			fmt.Fprintf(&b, "    %s %s: %s\n", kept.Chassis, ranks(c, rows[0]), rows[0].Reason)
			rows = rows[1:]
		} else if before := 1 + slices.Index(c.Before, kept); before != i+1 {
			fmt.Fprintf(&b, "    %s %d -> %d: its priority stays\n", kept.Chassis, before, i+1)
		}
	}
	for _, dropped := range rows {
		fmt.Fprintf(&b, "    %s %s: %s\n", dropped.Chassis, ranks(c, dropped), dropped.Reason)
	}
	return b.String()
}

// ranks renders a candidate's rank before and after. Ranks are easier to read than OVN's priorities.
func ranks(c schedule.Change, r schedule.Row) string {
	switch before, after := rank(c.Before, r.Chassis, r.Before), rank(c.After, r.Chassis, r.After); {
	case before == 0:
		return fmt.Sprintf("added as %d", after)
	case after == 0:
		return fmt.Sprintf("dropped from %d", before)
	case before == after:
		return fmt.Sprintf("stays %d", after)
	default:
		return fmt.Sprintf("%d -> %d", before, after)
	}
}

// rank counts from 1; 0 means that the chassis is not a candidate.
func rank(candidates []schedule.Candidate, chassis string, priority *int) int {
	return 1 + slices.IndexFunc(candidates, func(c schedule.Candidate) bool {
		return priority != nil && c == schedule.Candidate{Chassis: chassis, Priority: *priority}
	})
}

func becomes(before, after int) string {
	if before == after {
		return fmt.Sprint(after)
	}
	return fmt.Sprintf("%d -> %d", before, after)
}

func pinned(p schedule.Pinned) string {
	text := string(p.Kind) + " on " + cmp.Or(p.Chassis, "no chassis")
	switch {
	case p.Disabled:
		text += ", disabled"
	case len(p.Ports) > 0 && p.Active == "":
		text += ", not bound"
	case p.Active != p.Chassis && p.Active != "":
		text += ", bound to " + p.Active
	}
	return text
}

// Gateways renders the spread of gateways.
func Gateways(s schedule.Status) string {
	var b strings.Builder
	serious, others := bySeverity(s.Findings)
	b.WriteString(serious)
	for i, n := range s.Networks {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(network(n, n))
		fmt.Fprintf(&b, "spread %d\n", n.Spread())
	}
	if len(s.Networks)+len(s.Pinned)+len(s.Networkless) == 0 && !finding.Has(s.Findings, finding.NetworkUnknown) {
		b.WriteString("no gateways are connected to provider networks\n")
	}
	if len(s.Pinned) > 0 {
		b.WriteString("\npinned: hosted by one chassis by configuration, OVN moves them nowhere\n")
	}
	for _, p := range s.Pinned {
		fmt.Fprintf(&b, "  %s: %s\n", p.Name, pinned(p))
	}
	b.WriteString(more("  ", s.OmittedPinned, "pinned"))
	if len(s.Networkless) > 0 {
		b.WriteString("\nwithout a provider network: hosted by the best candidate, only a drain changes them\n")
	}
	for _, g := range s.Networkless {
		fmt.Fprintf(&b, "  %s: on %s\n", g.Name, cmp.Or(g.Active, "no chassis"))
	}
	b.WriteString(more("  ", s.OmittedLess, "without a provider network"))
	b.WriteString(problems(others, s.OmittedFindings))
	if s.Elsewhere > 0 {
		fmt.Fprintf(&b, "\n%s of other networks: to see all, name no network\n", schedule.Count(s.Elsewhere, "problem"))
	}
	return strings.TrimPrefix(b.String()+next(s), "\n")
}

// next renders the operations to run next, or that nothing is wrong.
func next(s schedule.Status) string {
	var b strings.Builder
	switch len(s.Next) {
	case 0:
		if len(s.Networks) > 0 && s.Elsewhere == 0 && finding.Worst(s.Findings) == finding.Info && !loses(s) {
			return "\nnothing is wrong\n"
		}
	case 1:
		b.WriteString("\nnext\n")
	default:
		b.WriteString("\nnext, in this order: the first changes what the second does\n")
	}
	for _, step := range s.Next {
		fmt.Fprintf(&b, "  %s: %s\n", step.Operation, cost(step.Cost))
		if step.Command != "" {
			fmt.Fprintf(&b, "    run: %s\n", step.Command)
		}
	}
	return b.String()
}

// loses reports whether gateways would have no chassis if one fails, for instance because their backups are dead.
func loses(s schedule.Status) bool {
	return slices.ContainsFunc(s.Networks, func(n schedule.Network) bool {
		return slices.ContainsFunc(n.Hosts, func(h schedule.Host) bool { return h.Failure.Lost > 0 })
	})
}

// History renders the journal of plans.
func History(h gateway.History) string {
	if len(h.Plans) == 0 {
		return "no plan has changed gateways\n" + problems(h.Findings, h.OmittedFindings)
	}
	var b strings.Builder
	rows := []string{"plan\twhen\toperation\tgateways\tnew first candidate\tby"}
	for _, e := range h.Plans {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s%s", e.ID, e.At.UTC().Format(time.RFC3339), e.Operation,
			e.Gateways, e.Moves, e.By, unfinished(e)))
	}
	b.WriteString(table(rows))
	for _, e := range h.Plans {
		if len(e.Changes) > 0 {
			b.WriteString("  candidates before -> after, with their priorities: the highest hosts the gateway\n")
		}
		byName := func(a, b schedule.AppliedChange) int { return schedule.CompareNames(a.Group, b.Group) }
		for _, t := range slices.SortedStableFunc(slices.Values(e.Changes), byName) {
			fmt.Fprintf(&b, "  %s: %s -> %s\n", t.Group, listed(t.Before), listed(t.After))
		}
		b.WriteString(more("  ", e.Omitted, ""))
	}
	return b.String() + problems(h.Findings, h.OmittedFindings)
}

func unfinished(e journal.Entry) string {
	if e.Left == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s left: interrupted, or still running)", schedule.Count(e.Left, "gateway"))
}

func listed(candidates []schedule.Candidate) string {
	if len(candidates) == 0 {
		return "none"
	}
	all := make([]string, len(candidates))
	for i, c := range candidates {
		all[i] = fmt.Sprintf("%s (%d)", c.Chassis, c.Priority)
	}
	return strings.Join(all, ", ")
}
