package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// demoPage shows a recording of `make demo` in the form of asciicast v2
// (docs.asciinema.org/manual/asciicast/v2) as text, for those without a player: each of
// its chapters, which begin with "== ", under a heading.
func demoPage(recording []byte) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# Watch the demo\n\n<!-- Written by \"make generate\" from demo.cast. -->\n\n" +
		"This is the output of `make demo` on real database servers, while a client writes to both databases. In [first\n" +
		"look](first-look.md) you type the same commands yourself. To play it in a terminal: `asciinema play docs/tutorial/demo.cast`\n" +
		"([asciinema](https://docs.asciinema.org/), on Ubuntu `sudo apt-get install asciinema`; space pauses, `.` steps). The text is\n" +
		"real, the pauses are not. Each run has other IDs; `make demo` fails if its steps differ from the recording.\n")
	open := false
	for n, line := range strings.Split(strings.TrimSpace(string(recording)), "\n") {
		if n == 0 {
			continue // the header
		}
		var event []any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return nil, fmt.Errorf("cannot read line %d: %w", n+1, err)
		}
		text, ok := event[len(event)-1].(string)
		if !ok {
			return nil, fmt.Errorf("cannot read line %d: it has no text", n+1)
		}
		text = strings.ReplaceAll(text, "\r\n", "\n")
		title, chapter := strings.CutPrefix(text, "== ")
		switch {
		case chapter:
			closeCode(&out, open)
			fmt.Fprintf(&out, "\n## %s\n```text\n", title)
			open = true
		case open:
			out.WriteString(text)
		}
	}
	closeCode(&out, open)
	return out.Bytes(), nil
}

// closeCode ends a chapter, without the empty lines before it and at its beginning.
func closeCode(out *bytes.Buffer, open bool) {
	if !open {
		return
	}
	text := strings.ReplaceAll(strings.TrimRight(out.String(), "\n"), "```text\n\n", "```text\n")
	out.Reset()
	out.WriteString(text + "\n```\n")
}
