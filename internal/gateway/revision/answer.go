package revision

import (
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
)

// Kinds of messages about revisions; the others are those of nodes.
const (
	messageRevision  = "RevisionMessage"
	messageOperation = "OperationMessage"
	messageCordon    = "CordonMessage"
)

// List answers which revisions there are: what stands in the database now, then those that are
// tagged, the newest first.
func (b Book) List(now Layout) answer.Status {
	status := answer.New(answer.Success, fmt.Sprintf("gateways: %d; cordons: %d; tagged operations: %d", len(now.Gateways), len(now.Cordons), len(b.Tags)),
		answer.Message{Message: string(Committed) + ": what stands in the database now", Kind: messageRevision, Name: now.id()})
	for _, t := range b.Tags {
		text := t.text()
		if names := b.names(t); names != "" {
			text = names + ": " + text
		}
		if !b.kept(t) {
			text += "; its layout is not kept"
		}
		status = status.With(answer.Message{Message: text, Kind: messageRevision, Name: t.Revision})
	}
	return status
}

// Compare answers what two layouts do not share.
func Compare(base, diff Version, from, to Layout) answer.Status {
	all := Diff(from, to)
	what := fmt.Sprintf("%s (%s) and %s (%s)", base, from.id(), diff, to.id())
	if len(all) == 0 {
		return answer.New(answer.Success, what+" are the same")
	}
	var messages []answer.Message
	for _, d := range all {
		m := answer.Message{Message: d.Text, Kind: answer.MessageGateway, Name: d.Gateway}
		if d.Chassis != "" {
			m.Kind, m.Name = messageCordon, d.Chassis
		}
		messages = append(messages, m)
	}
	return answer.New(answer.Success, fmt.Sprintf("differences between %s: %d", what, len(all)), messages...)
}

// Refusal answers that a plan is not carried out, since it is not the one that was reviewed.
func (c Changes) Refusal() answer.Status {
	refused := answer.New(answer.Conflict, c.text()+"; nothing is changed: review the plan again with a dry run, or allow intermediate commits")
	for _, o := range c.Operations {
		refused = refused.With(answer.Message{Message: o.text(), Error: true, Kind: messageOperation, Name: o.ID})
	}
	return refused
}

// Skipped says what a check would have refused that is skipped.
func (c Changes) Skipped() string {
	if c.None() {
		return "skipping the check for intermediate commits: there are none"
	}
	named := []string{c.text()}
	for _, o := range c.Operations {
		named = append(named, o.ID+" "+o.text())
	}
	return "skipping the check for intermediate commits: " + strings.Join(named, "; ")
}
