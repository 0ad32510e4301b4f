package cluster

import (
	"regexp"
	"slices"
	"strings"
)

// Phase has the facts about the application while statuses are shown.
type Phase struct {
	// Certified reports whether the certificates relation exists.
	Certified bool
	// Moving reports whether units are being added or removed.
	Moving bool
	// Down are the units whose machines are off, or were a moment ago. Cut reports whether they run, but can't be
	// reached.
	Down []string
	Cut  bool
	// Blackout reports whether all of them are down at once, and come back one by one.
	Blackout bool
	// Refused reports whether an option has an invalid value.
	Refused bool
}

// shown is the length at which `juju status` cuts a message, without the ellipsis (maxMessageLength of
// status/output_tabular.go).
const shown = 117

var (
	staleMember = regexp.MustCompile(`stale member ([a-z0-9-]+/[0-9]+)`)
	runsOn      = regexp.MustCompile(`juju (?:run|run-action|ssh|exec --unit) ([a-z0-9-]+/[0-9]+)`)
	tally       = regexp.MustCompile(`\b([0-9]+) of ([0-9]+) up\b`)
)

// Judge returns why a unit's status is false, or harmful if an operator follows it; "" if it is neither. In these
// scenarios a quorum is lost only in a blackout, and a unit with the only copy of the data is never removed.
func Judge(phase Phase, word, message string) string {
	lower := strings.ToLower(message)
	has := func(text string) bool { return strings.Contains(lower, text) }
	quiet := len(phase.Down) == 0
	switch {
	case has("deploy the application again"), has("deploy it again"):
		return "to deploy again loses the data"
	case has("move") && has(" away"):
		return "to move a database away loses a member, and none is in the way"
	case (has("no quorum") || has("quorum is lost")) && !phase.Blackout:
		return "there is a quorum all the time"
	case (has("force=true") || has("unit-in-model=true")) && !phase.Cut:
		return "nothing here needs force"
	case word == "error":
		return "no hook may fail here"
	case phase.Certified && has("'certificates' missing"):
		return "the relation is there"
	case phase.Certified && word == "blocked" && !phase.Refused && !phase.Blackout:
		return "nothing here needs an operator's hand"
	case quiet && has("kick"):
		return "no member is down, none is to be kicked"
	}
	if m := staleMember.FindStringSubmatch(message); m != nil && !slices.Contains(phase.Down, m[1]) {
		return m[1] + " is not down, and leaves by itself"
	}
	// A unit is asked to run its next hook, or to restart a server, only while one of its servers answers, so that its
	// machine is on again.
	back := has("before its next hook") || has(" restart-services ")
	if m := runsOn.FindStringSubmatch(message); m != nil && slices.Contains(phase.Down, m[1]) && !phase.Blackout && !back {
		return "the machine of " + m[1] + " is off, and runs no command"
	}
	if m := tally.FindStringSubmatch(message); m != nil && m[1] != m[2] && quiet && !phase.Moving {
		return "all members are up"
	}
	if at := strings.Index(message, "juju run"); at >= shown {
		return "juju status cuts the command off"
	}
	return ""
}
