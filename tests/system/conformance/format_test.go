package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/recorded"
)

// width is how long a line of a recording may be before it is broken up.
const width = 160

// plain is a value whose parts, if it has any, have none: outside of strings, no brackets
// but those around it.
var plain = regexp.MustCompile(`^[\[{]?("(\\.|[^"\\])*"|[^"\[\]{}])*[\]}]?$`)

// format writes stories such that a person can read and compare them: a value that fits on a line
// is on one line, and so is a value without parts of its own, like an answer.
func format(stories []recorded.Story) ([]byte, error) {
	var compact, b bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(stories); err != nil {
		return nil, err
	}
	if err := layOut(&b, bytes.TrimSpace(compact.Bytes()), 0); err != nil {
		return nil, err
	}
	b.WriteString("\n")
	return b.Bytes(), nil
}

// layOut writes a value on one line, or each of its parts on lines of their own.
func layOut(b *bytes.Buffer, value json.RawMessage, depth int) error {
	if len(value)+depth <= width || plain.Match(value) {
		b.Write(value)
		return nil
	}
	parts := json.NewDecoder(bytes.NewReader(value))
	if _, err := parts.Token(); err != nil {
		return err
	}
	b.WriteByte(value[0])
	for first := true; parts.More(); first = false {
		if !first {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strings.Repeat(" ", depth+1))
		if value[0] == '{' {
			key, err := parts.Token()
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%q: ", key)
		}
		var part json.RawMessage
		if err := parts.Decode(&part); err != nil {
			return err
		}
		if err := layOut(b, part, depth+1); err != nil {
			return err
		}
	}
	b.WriteString("\n" + strings.Repeat(" ", depth))
	b.WriteByte(value[len(value)-1])
	return nil
}
