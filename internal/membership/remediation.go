package membership

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// RefusedError says that nothing was touched, and why.
type RefusedError struct {
	// Refusals are one or two: each database is judged.
	Refusals []*raft.Refusal
	// Command is what is to be typed first; empty where nothing, or one thing or another is.
	Command string
	// Advice are the ways out, each one line.
	Advice []string
}

// Error is one line for each reason, then one for each way out, which both
// databases may share.
func (e *RefusedError) Error() string {
	var lines []string
	for _, r := range e.Refusals {
		lines = append(lines, r.Error())
	}
	for i, a := range e.Advice {
		if !slices.Contains(e.Advice[:i], a) {
			lines = append(lines, "next: "+a)
		}
	}
	return strings.Join(lines, "\n")
}
