package runtest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// witness is a test under test: it records its calls.
type witness struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (w *witness) Helper() {}

func (w *witness) Errorf(format string, args ...any) {
	w.failures = append(w.failures, fmt.Sprintf(format, args...))
}

func (w *witness) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }

func (w *witness) end() {
	for _, f := range w.cleanups {
		f()
	}
}

func TestScript_fails_test(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		expected []runtest.Call
		ran      []run.Command
		failure  string
	}{
		"on a call that never came": {
			expected: []runtest.Call{runtest.Expect("is-leader")},
			failure:  "never called: is-leader",
		},
		"on a call after the last": {
			ran:     []run.Command{{Name: "is-leader"}},
			failure: "unexpected call: [\"is-leader\"]\nexpected: no more calls",
		},
		"on other arguments": {
			expected: []runtest.Call{runtest.Expect("relation-ids", "a b")},
			ran:      []run.Command{{Name: "relation-ids", Args: []string{"a", "b"}}},
			failure:  "unexpected call: [\"relation-ids\" \"a\" \"b\"]\nexpected: [\"relation-ids\" \"a b\"]",
		},
		"on other input": {
			expected: []runtest.Call{runtest.Expect("relation-set").Reads("1")},
			ran:      []run.Command{{Name: "relation-set", Stdin: []byte("2")}},
			failure:  "unexpected call: [\"relation-set\"] < \"2\"\nexpected: [\"relation-set\"] < \"1\"",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &witness{TB: t}
			s := runtest.New(w, tc.expected...)
			for _, c := range tc.ran {
				_, err := s.Run(t.Context(), c)
				require.ErrorContains(t, err, "unexpected call")
			}
			w.end()
			require.NotEmpty(t, w.failures)
			assert.Equal(t, tc.failure, w.failures[0])
		})
	}
}
