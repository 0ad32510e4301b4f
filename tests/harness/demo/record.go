package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
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

// told matches a title or a command in a recording.
var told = regexp.MustCompile(`(?m)^\[[0-9.]+, "o", "((?:\$|==) .*)\\r\\n"\]$`)

// varying matches what differs between runs: IDs, and the numbers of units.
var varying = regexp.MustCompile(`[0-9a-f]{4,}(-[0-9a-f]{4,})*|/\d+`)

// storyOf returns the parts that all runs have in common: titles and commands.
func storyOf(recording []byte) (all []string) {
	for _, line := range told.FindAllSubmatch(recording, -1) {
		all = append(all, varying.ReplaceAllString(string(line[1]), "#"))
	}
	return all
}

// compare returns an error unless a recording tells the same story as another one.
func compare(recording, now []byte) error {
	was, is := storyOf(recording), storyOf(now)
	i := 0
	for i < min(len(was), len(is)) && was[i] == is[i] {
		i++
	}
	if i == 0 || i < max(len(was), len(is)) {
		return fmt.Errorf("the recording shows %q where the demo has %q; record it again: make demo RECORD=1", was[i:],
			is[i:])
	}
	return nil
}
