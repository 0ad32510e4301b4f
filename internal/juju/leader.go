package juju

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// IsLeader reports whether this unit leads the application. Juju guarantees true for 30 s more; after an error assume
// false.
func (t *Tools) IsLeader(ctx context.Context) (bool, error) {
	var leader bool
	err := t.query(ctx, &leader, "is-leader")
	return leader, cannot(err, "ask for leadership")
}

// LeaderGet returns the settings that the application's leaders have written, empty if none has. Long values are
// treated as in [Tools.RelationGet]. A Juju without leader settings is an [ErrNoTool].
func (t *Tools) LeaderGet(ctx context.Context) (map[string]string, error) {
	settings, err := t.data(ctx, "leader-get")
	return settings, cannot(err, "read leader settings")
}

// LeaderSet writes leader settings, all in one step. Other keys stay as they are, and an empty value removes its key.
// Without settings it does nothing. They are stored at once and stay even if the hook fails. A unit that does not lead
// gets [ErrNotLeader], and nothing is stored; other errors are those of [Tools.LeaderGet].
//
// They are passed as arguments, which a list of processes shows: no secrets. Keys and values with surrounding space are
// refused, since Juju would trim them. A setting that is longer than [MaxArgument] is an [ErrTooLarge].
func (t *Tools) LeaderSet(ctx context.Context, settings map[string]string) error {
	if len(settings) == 0 {
		return nil
	}
	args := []string{"--"}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		arg := key + "=" + settings[key]
		switch {
		case key == "" || strings.Contains(key, "="):
			return fmt.Errorf("cannot write leader setting %q: a key is not empty and has no =", key)
		case strings.TrimSpace(key) != key || strings.TrimSpace(settings[key]) != settings[key]:
			return fmt.Errorf("cannot write leader setting %q: it begins or ends with a space", key)
		case !utf8.ValidString(arg) || strings.ContainsRune(arg, 0):
			return fmt.Errorf("cannot write leader setting %q: it is not text", key)
		case len(arg) > MaxArgument:
			return fmt.Errorf("cannot write leader setting %q: %w: %d bytes with its key, at most %d", key, ErrTooLarge,
				len(arg), MaxArgument)
		}
		args = append(args, arg)
	}
	return cannot(t.tell(ctx, "leader-set", args...), "write leader settings")
}
