package raft

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// FuzzParse shows that Parse never panics, that its errors are short and of one type, and that it loses nothing of an
// accepted text.
func FuzzParse(f *testing.F) {
	statuses, others := captures(f)
	for _, name := range append(statuses, others...) {
		f.Add(capture(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := Parse(text)
		if err != nil {
			var refused *ParseError
			if !errors.As(err, &refused) {
				t.Fatalf("%T instead of *ParseError", err)
			}
			// At most a line and one of its values are quoted, each byte as four or fewer.
			if len(err.Error()) > 10*maxQuoted {
				t.Fatalf("error of %d bytes", len(err.Error()))
			}
			return
		}
		rendered := first.String()
		if rendered != strings.TrimSuffix(text, "\n")+"\n" {
			t.Fatalf("lost something:\n%q\nbecame\n%q", text, rendered)
		}
		second, err := Parse(rendered)
		if err != nil {
			t.Fatalf("cannot read what was rendered: %v", err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("not the same status:\n%#v\nbecame\n%#v", first, second)
		}
	})
}
