package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A recording is in the form of asciicast v2 (docs.asciinema.org/manual/asciicast/v2): a line
// with a header, then one for each piece of output with the seconds since the beginning.
// Times are made up, for people to follow; the text is what the demo has printed.

// Measures of the terminal, in characters.
const (
	columns = 150
	rows    = 45
)

// Pauses, in seconds: after a line, before a command is typed, and after a chapter's title.
const (
	linePause    = 0.03
	commandPause = 1.5
	titlePause   = 1.0
)

func cast(printed []byte) ([]byte, error) {
	header, err := json.Marshal(map[string]any{"version": 2, "width": columns, "height": rows, "title": "ovn-central operator: make demo"})
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(append(header, '\n'))
	at := 0.0
	for line := range strings.Lines(string(printed)) {
		switch {
		case strings.HasPrefix(line, "$ "):
			at += commandPause
		case strings.HasPrefix(line, "== "):
			at += titlePause
		default:
			at += linePause
		}
		text, err := json.Marshal(strings.ReplaceAll(line, "\n", "\r\n"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "[%.2f, \"o\", %s]\n", at, text)
	}
	return out.Bytes(), nil
}

func printedIn(recording []byte) ([]byte, error) {
	lines := bufio.NewScanner(bytes.NewReader(recording))
	lines.Buffer(nil, len(recording)+1)
	if !lines.Scan() {
		return nil, errors.New("cannot read the recording: it is empty")
	}
	var out bytes.Buffer
	for lines.Scan() {
		var event []any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("cannot read the recording: %w", err)
		}
		text, ok := event[len(event)-1].(string)
		if !ok {
			return nil, fmt.Errorf("cannot read the recording: %s", lines.Bytes())
		}
		out.WriteString(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	return out.Bytes(), nil
}

// varying matches what differs between runs: IDs, and the numbers of units.
var varying = regexp.MustCompile(`[0-9a-f]{4,}(-[0-9a-f]{4,})*|/\d+`)

// storyOf returns what every run has in common: titles and commands.
func storyOf(printed []byte) []string {
	var all []string
	for line := range strings.Lines(string(printed)) {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "== ") {
			all = append(all, varying.ReplaceAllString(strings.TrimSpace(line), "#"))
		}
	}
	return all
}

func compare(recording, printed []byte) error {
	shown, err := printedIn(recording)
	if err != nil {
		return err
	}
	was, is := storyOf(shown), storyOf(printed)
	for i := range max(len(was), len(is)) {
		before, now := at(was, i), at(is, i)
		if before != now {
			return fmt.Errorf("the recording shows %q where the demo has %q; record it again: make demo RECORD=1", before, now)
		}
	}
	if len(was) == 0 || !slices.ContainsFunc(was, func(line string) bool { return strings.HasPrefix(line, "$ juju ") }) {
		return errors.New("the recording shows no command; record it again: make demo RECORD=1")
	}
	return nil
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "the end"
}
