package document

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// History renders the journal of plans.
func History(h gateway.History) string {
	if len(h.Plans) == 0 {
		return "no plan has changed gateways\n" + problems(h.Findings, h.OmittedFindings)
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "plan\twhen\toperation\tgateways\tmoved\tby")
	for _, e := range h.Plans {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s%s\n", e.ID, e.At.UTC().Format(time.RFC3339), e.Operation, e.Gateways,
			e.Moves, e.By, unfinished(e))
	}
	_ = table.Flush() // a strings.Builder does not fail
	for _, e := range h.Plans {
		for _, t := range e.Changes {
			fmt.Fprintf(&b, "  %s: %s -> %s\n", t.Group, listed(t.Before), listed(t.After))
		}
		b.WriteString(more("  ", e.Omitted, ""))
	}
	return b.String() + problems(h.Findings, h.OmittedFindings)
}

// unfinished returns a note if a plan was not completed.
func unfinished(e journal.Entry) string {
	if e.Left == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d gateways left: interrupted, or still running)", e.Left)
}

// listed returns candidates with their priorities, best first.
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
