package runtest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// witness is a test for the test of Script: it records its calls.
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

func TestScript_fails_test(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		expected []runtest.Call
		ran      []run.Command
		failure  string
	}{
		"missing_call": {[]runtest.Call{runtest.Expect("is-leader")}, nil, "never called: is-leader"},
		"call_after_the_last": {
			nil,
			[]run.Command{{Name: "is-leader"}},
			"unexpected call: [\"is-leader\"]\nexpected: no more calls",
		},
		"other_arguments": {
			[]runtest.Call{runtest.Expect("relation-ids", "a b")},
			[]run.Command{{Name: "relation-ids", Args: []string{"a", "b"}}},
			"unexpected call: [\"relation-ids\" \"a\" \"b\"]\nexpected: [\"relation-ids\" \"a b\"]",
		},
		"other_input": {
			[]runtest.Call{runtest.Expect("relation-set").Reads("1")},
			[]run.Command{{Name: "relation-set", Stdin: []byte("2")}},
			"unexpected call: [\"relation-set\"] < \"2\"\nexpected: [\"relation-set\"] < \"1\"",
		},
	} {
		w := &witness{TB: t}
		s := runtest.New(w, tc.expected...)
		for _, c := range tc.ran {
			_, err := s.Run(t.Context(), c)
			require.ErrorContains(t, err, "unexpected call", name)
		}
		for _, end := range w.cleanups {
			end()
		}
		require.NotEmpty(t, w.failures, name)
		assert.Equal(t, tc.failure, w.failures[0], name)
	}
}
