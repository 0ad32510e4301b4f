package journal

import (
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
)

const (
	// Kinds of messages about revisions.
	messageRevision  = "RevisionMessage"
	messageOperation = "OperationMessage"
	messageCordon    = "CordonMessage"
)

// List answers with the revisions: the present layout, then the tagged ones, the newest first.
func (j Journal) List(now Layout) answer.Status {
	tagged := j.tagged()
	counts := fmt.Sprintf("gateways: %d; cordons: %d; tagged operations: %d", len(now.Gateways), len(now.Cordons),
		len(tagged))
	committed := string(Committed) + ": what is in the database now"
	status := answer.New(answer.Success, counts, answer.Message{Message: committed, Kind: messageRevision, Name: now.id()})
	for _, e := range tagged {
		ended := e.end.At.UTC().Format(time.RFC3339)
		text := fmt.Sprintf("%s of %s, %s, by %s, %s", e.end.Outcome, e.ID, e.what(), e.By, ended)
		if names := j.names(e); names != "" {
			text = names + ": " + text
		}
		if !j.kept(e) {
			text += "; its layout is not kept"
		}
		status = status.With(answer.Message{Message: text, Kind: messageRevision, Name: e.end.Revision})
	}
	return status
}

// Compare answers with the differences of two layouts.
func Compare(base, diff Version, from, to Layout) answer.Status {
	all := Diff(from, to)
	what := fmt.Sprintf("%s (%s) and %s (%s)", base, from.id(), diff, to.id())
	if len(all) == 0 {
		return answer.New(answer.Success, what+" are the same")
	}
	return answer.New(answer.Success, fmt.Sprintf("differences between %s: %d", what, len(all)), all...)
}
