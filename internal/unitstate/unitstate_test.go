package unitstate_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

type doors struct {
	Open []string `json:"open,omitempty"`
}

type rooms struct {
	Count int `json:"count,omitempty"`
}

func open(t *testing.T, path string) (*unitstate.State, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	s, err := unitstate.Open(path, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	return s, log
}

func TestState(t *testing.T) {
	first, second := unitstate.NewSection[doors]("doors"), unitstate.NewSection[rooms]("rooms")
	whose := unitstate.Owner{Unit: "ovn-central/0", Model: "m", Installing: true}
	filled := func(t *testing.T) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "db", "state.json")
		s, _ := open(t, path)
		assert.Zero(t, first.Get(s))
		require.NoError(t, first.Set(s, doors{Open: []string{"front"}}))
		require.NoError(t, second.Set(s, rooms{3}))
		require.NoError(t, s.Save(whose))
		return path
	}

	t.Run("sections_are_kept_apart", func(t *testing.T) {
		path := filled(t)
		s, log := open(t, path)
		assert.Equal(t, whose, s.Owner())
		require.NoError(t, second.Set(s, rooms{}))
		require.NoError(t, s.Save(whose))
		s, _ = open(t, path)
		assert.Equal(t, doors{Open: []string{"front"}}, first.Get(s))
		assert.Zero(t, second.Get(s))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "rooms", "what is empty is not written")
		assert.Empty(t, log)
	})

	t.Run("unreadable_section_loses_itself_only", func(t *testing.T) {
		path := filled(t)
		require.NoError(t, os.WriteFile(path, []byte(`{"doors":{"open":1},"rooms":{"count":2}}`), 0o600))
		s, log := open(t, path)
		assert.Zero(t, first.Get(s))
		assert.Contains(t, log.String(), "section=doors")
		assert.Equal(t, rooms{2}, second.Get(s))
	})

	t.Run("unreadable_file_is_an_error_and_an_empty_state", func(t *testing.T) {
		for _, text := range []string{"", "{", "[]"} {
			path := filled(t)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			s, err := unitstate.Open(path, slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, path)
			assert.Zero(t, first.Get(s))
			require.NoError(t, s.Save(whose), "it is written again")
		}
	})

	t.Run("forgotten_state_is_empty", func(t *testing.T) {
		s, _ := open(t, filled(t))
		s.Forget()
		assert.Zero(t, first.Get(s))
		assert.Zero(t, s.Owner())
	})
}
