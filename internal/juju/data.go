package juju

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Limits for data that other units publish, in bytes of JSON. The longest honest value
// is a list of certificates, of less than 200 KiB.
const (
	maxValue = 1 << 20
	maxData  = 8 << 20
)

// data reads the data of another unit or application: strings by their keys. Too much
// data is not an error, since one unit could then make the hooks of all others fail. A
// value that is too long is replaced by a text with its length, which every reader
// refuses as malformed; the other values are unchanged. If the total is too long, only
// the first keys are kept.
func (t *Tools) data(ctx context.Context, tool string, args ...string) (map[string]string, error) {
	kept := new(shortened)
	out, err := t.call(ctx, run.Command{Name: tool, Args: append([]string{"--format=json"}, args...), Stdout: kept})
	if err != nil {
		return nil, err
	}
	_, _ = kept.Write(out) // from a runner that ignores Stdout; never fails
	var values map[string]string
	if err := decode(kept.text(), &values, tool); err != nil {
		return nil, err
	}
	return values, nil
}

func decode(text []byte, answer any, tool string) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(answer); err != nil {
		return fmt.Errorf("%s: the answer is not what Juju documents: %w", tool, err)
	}
	return nil
}

// shortened keeps the JSON that is written to it: an object of strings. It replaces
// strings that are too long, and drops everything after the first maxData bytes.
type shortened struct {
	kept bytes.Buffer
	// whole is the length of the complete pairs in kept.
	whole int
	// full reports whether the rest is dropped.
	full bool
	// inside reports whether the next byte belongs to a string, which begins at start in
	// kept; escaped, whether the last byte is a backslash that escapes the next byte.
	inside, escaped bool
	start, length   int
}

// Write implements [io.Writer]. It never fails.
func (s *shortened) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && !s.full; {
		if s.inside {
			rest = s.string(rest)
		} else {
			rest = s.between(rest)
		}
	}
	return len(p), nil
}

// between takes the bytes between two strings, and the quote that begins the next one.
func (s *shortened) between(p []byte) (rest []byte) {
	n := bytes.IndexByte(p, '"') + 1
	if s.inside = n > 0; !s.inside {
		n = len(p)
	}
	for i, c := range p[:n] {
		if s.kept.Len()+i >= maxData {
			s.full = true
			return nil
		}
		if c == ',' {
			s.whole = s.kept.Len() + i
		}
	}
	s.kept.Write(p[:n])
	s.start, s.length = s.kept.Len(), 0
	return p[n:]
}

// string takes the bytes of a string, and the quote that ends it.
func (s *shortened) string(p []byte) (rest []byte) {
	n := 0
	for ; n < len(p); n++ {
		if s.escaped {
			s.escaped = false
		} else if s.escaped = p[n] == '\\'; p[n] == '"' {
			s.inside = false
			break
		}
	}
	s.length += n
	if s.length <= maxValue && s.start+s.length <= maxData {
		s.kept.Write(p[:n])
	}
	if s.inside {
		return nil
	}
	if s.kept.Len()-s.start != s.length {
		s.kept.Truncate(s.start)
		fmt.Fprintf(&s.kept, "(%d bytes, too long)", s.length)
	}
	s.kept.WriteByte('"')
	return p[n+1:]
}

// text returns the JSON that was kept.
func (s *shortened) text() []byte {
	if !s.full {
		return s.kept.Bytes()
	}
	return append(s.kept.Bytes()[:s.whole:s.whole], '}')
}
