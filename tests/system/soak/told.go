package soak

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Told reads which messages the page about units that are blocked or wait tells
// what to type for: the first column of its tables. Of each it returns the parts
// that stand fast, lower case words that differ left out.
func Told(page string) (messages [][]string, err error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, fmt.Errorf("cannot read what is told of statuses: %w", err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(string(text), -1) {
		for _, phrase := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			messages = append(messages, parts(phrase[1]))
		}
	}
	if len(messages) == 0 {
		return nil, fmt.Errorf("%s tells nothing", page)
	}
	return messages, nil
}

// parts cuts a phrase at what differs from message to message: names of units,
// options and databases, and counts of members.
func parts(phrase string) (all []string) {
	for _, part := range regexp.MustCompile(`…|OPTION|ovn-central/\d+|^nb\b|\d+ of \d+`).Split(phrase, -1) {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// tells says whether a message is one of these.
func tells(messages [][]string, message string) bool {
	return slices.ContainsFunc(messages, func(parts []string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(message, part) })
	})
}

// silent is a unit that waits without saying for what, or with a message of which
// the how-to doesn't tell what to type.
func (w *world) silent() string {
	for _, h := range w.inModel() {
		s := h.Workload()
		if h.Dying() || s.Status != "waiting" && s.Status != "blocked" {
			continue
		}
		if s.Message == "" || !tells(w.charm.Told, s.Message) && len(commands(s.Message)) == 0 && s.Message != initial {
			return fmt.Sprintf("%s is %s, and nothing tells what to type: %q", h.Name(), s.Status, s.Message)
		}
	}
	return ""
}

// initial is what Juju says before the charm has said anything.
const initial = "agent initialising"
