package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// terminal is how many characters of a status an operator sees who has a terminal of that width.
const terminal = 80

// wide are the statuses that are longer, by how they begin, and why they can't be shorter.
var wide = map[string]string{
	"'ovsdb-peer' incomplete, 'certificates' awaiting": "programs wait for these words",
	"cannot install: ": "it begins with what failed, in the words of what did",
	"option source: ":  "it begins with what is wrong, and says all that is allowed",
	"nb: file lacks entries, don't stop it: make space": "two commands, behind what is to be done first",
	"nb: its file lacks entries; run: ":                 "a command of 63 characters",
	"nb: its data differ; run: ":                        "a command of 63 characters",
	"nb: file ends amid a removal; run: ":               "a command of 63 characters",
	"nb: its file can't be read; run: ":                 "a command of 63 characters",
	"nb: file of a newer Open vSwitch":                  "a command of 59 characters",
	"nb: make room, or run: ":                           "a command of 87 characters",
	"juju ssh ovn-central/10 sudo ovsdb-client":         "a command of 111 characters",
	"nb: the server hangs; if this lasts, run: ":        "a command of 69 characters, which is not to be run at once",
	"Unit is ready (ovn-central/14 waits to leave: ":    "a command of 67 characters",
	"Unit is ready (no more may fail; stale member: ":   "a command of 67 characters",
	"Unit is ready (stale member: ":                     "a command of 78 characters",
	"Unit is ready (not in the new cluster yet":         "a command that names each unit",
	"Unit is ready (nb: address changed: ":              "two commands",
	"Unit is ready (restarts are held back; run: ":      "a command of 58 characters",
	"Unit is ready (a dead ovn-northd keeps its lock":   "a command of 56 characters",
	"Unit is ready (sb: roles not enforced; run: ":      "a command of 69 characters",
	"Unit is ready (ovn-northd hangs: ":                 "a command of 60 characters",
	"Unit is ready (cannot convert the schema":          "it begins with what failed, in the words of what did",
}

var (
	unit   = regexp.MustCompile(`\bovn-central/(\d)\b`)
	counts = regexp.MustCompile(`; (?:leader: |northd: active|(?:nb )?\d of \d up|…)`)
	// listed are the first columns of what is said with a word, and of what an active unit says among other things.
	listed = regexp.MustCompile(`(?m)^\| (?:waiting|blocked|active|maintenance) \| (.+?) \| `)
)

// typical is a message of an application that is neither small nor new: of five members, with units of two digits.
func typical(message string) string {
	return strings.ReplaceAll(unit.ReplaceAllString(message, "ovn-central/1$1"), "3 of 3", "5 of 5")
}

// head is a message without the detail in parentheses at its end, and of what an active unit says
// without the counts at its end.
func head(message string) string {
	said, ready := strings.CutPrefix(message, status.Ready("")[:len(status.Ready(""))-1])
	if ready {
		said = strings.TrimSuffix(said, ")")
		if at := counts.FindStringIndex(said); at != nil && at[0] > 0 {
			said = said[:at[0]]
		}
	}
	if strings.HasSuffix(said, ")") {
		depth := 0
		for i := len(said) - 1; i >= 0; i-- {
			switch said[i] {
			case ')':
				depth++
			case '(':
				depth--
			}
			if depth == 0 {
				said = strings.TrimRight(said[:i], " ")
				break
			}
		}
	}
	if ready {
		return strings.TrimSuffix(status.Ready(said), ")")
	}
	return said
}

// What matters is seen in a terminal; where it can't be, for a command's length, it is in what `juju
// status` shows, and the command first or whole.
func TestStatusesFitATerminal(t *testing.T) {
	d := readRepository(t).documents["docs/reference/statuses.md"]
	var messages []string
	for _, row := range listed.FindAllStringSubmatch(d.text, -1) {
		messages = append(messages, document{d.path, row[1]}.code()...)
	}
	for row := range strings.Lines(notes.FindString(d.text)) {
		cells := strings.Split(row, " | ")
		for _, note := range (document{d.path, cells[0]}).code() {
			if !strings.HasPrefix(note, "(") { // it is another end of the one before
				messages = append(messages, status.Ready(note))
			}
		}
	}
	require.Greater(t, len(messages), 90)
	used := map[string]bool{}
	for _, message := range messages {
		seen := head(typical(message))
		if len(seen) <= terminal {
			continue
		}
		why := ""
		for begins := range wide {
			if strings.HasPrefix(seen, begins) {
				why, used[begins] = begins, true
			}
		}
		assert.NotEmpty(t, why, "%d characters: %s", len(seen), seen)
		if command := firstCommand.FindString(seen); command != "" {
			assert.LessOrEqual(t, len(seen), status.StatusWidth, seen)
		}
	}
	for begins := range wide {
		assert.True(t, used[begins], "no status is too long that begins so: %s", begins)
	}
}

func TestHeadOfAStatusIsWithoutItsDetail(t *testing.T) {
	for message, want := range map[string]string{
		"nb: no quorum; run: x (1 of 3 (so) answer)":                  "nb: no quorum; run: x",
		"no quorum (of nb) yet":                                       "no quorum (of nb) yet",
		"Unit is ready (3 of 3 up, 1 may fail)":                       "Unit is ready (3 of 3 up, 1 may fail",
		"Unit is ready (nb 13fe (a/2) down; nb 2 of 3 up, sb 3 of 3)": "Unit is ready (nb 13fe (a/2) down",
		"Unit is ready (stale member: x (nb 13fe (was a/2)); …)":      "Unit is ready (stale member: x",
	} {
		assert.Equal(t, want, head(message))
	}
	assert.Equal(t, "run: juju run ovn-central/10 x; 5 of 5 up", typical("run: juju run ovn-central/0 x; 3 of 3 up"))
}
