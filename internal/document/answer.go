package document

import (
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
)

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
