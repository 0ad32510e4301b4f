package cluster

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The machine of the story that is turned off may run a hook in that moment, and its servers
// start when it is on again.
func TestHooksMayFailOfAUnitThatIsDownOnly(t *testing.T) {
	t.Parallel()
	w := &watch{out: io.Discard, last: map[string]string{}}
	w.set(Scene{Certified: true, Down: []string{"ovn-central/4"}})
	w.see("ovn-central/4", "error", `hook failed: "update-status"`)
	w.see("ovn-central/4", "blocked", "nb: cannot ask the server, which runs without its control socket (it is still starting, or the socket was removed)")
	assert.Empty(t, w.wrong)
	w.see("ovn-central/1", "error", `hook failed: "update-status"`)
	assert.Len(t, w.wrong, 1)
	w.see("ovn-central/1", "blocked", "nb: cannot ask the server, which runs without its control socket (it is still starting, or the socket was removed)")
	assert.Len(t, w.wrong, 2)
}

// Two scenes, of which the second allows less: in the first a tally may be short.
// Juju 4 keeps the log in whole seconds, and writes it later.
func TestLogIsJudgedByTheScenesOfItsTime(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 11, 26, 12, 0, 10, 700_000_000, time.UTC)
	second := first.Add(10 * time.Second) // 12:00:20.7
	at := func(s int) time.Time { return first.Truncate(time.Second).Add(time.Duration(s-10) * time.Second) }
	force := "waiting: juju run ovn-central/0 kick unit=ovn-central/1 force=true"
	short := "active: 2 of 3 up"
	tests := map[string]struct {
		since time.Time
		shown string
		wrong int
	}{
		"before the story":                             {at(9), force, 0},
		"in the second in which the story began":       {at(10), force, 1},
		"in the first scene, told in the second":       {at(19), force, 1},
		"what the first scene allows":                  {at(19), short, 0},
		"in the second that both have a part of":       {at(20), force, 1},
		"what only one of both allows":                 {at(20), short, 0},
		"in the second scene":                          {at(21), short, 1},
		"in that second, and the time says which part": {second.Add(time.Millisecond), short, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			word, message, _ := strings.Cut(test.shown, ": ")
			w := &watch{
				app: told{units: []string{"ovn-central/0"}, log: []Past{{Status: word, Message: message, Since: test.since}}}, out: io.Discard, last: map[string]string{},
				scenes: []since{{Scene{Certified: true, Moving: true}, first}, {Scene{Certified: true}, second}},
			}
			require.NoError(t, w.logs(t.Context()))
			assert.Len(t, w.wrong, test.wrong, "%v", w.wrong)
		})
	}
}

// What a unit shows as it leaves is judged too, where Juju still has its log.
func TestLogOfAUnitThatHasGoneIsJudged(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := &watch{
		app: told{log: []Past{{Status: "error", Message: `hook failed: "stop"`, Since: began.Add(time.Second)}}}, out: io.Discard,
		last: map[string]string{"ovn-central/1": "maintenance: stopping charm software"}, scenes: []since{{Scene{Certified: true}, began}},
	}
	require.NoError(t, w.logs(t.Context()))
	assert.Len(t, w.wrong, 1)
}

// told is an application with these units, of any of which it tells this log.
type told struct {
	Application
	units []string
	log   []Past
}

func (t told) Units(context.Context) (map[string]Unit, error) {
	units := map[string]Unit{}
	for _, unit := range t.units {
		units[unit] = Unit{}
	}
	return units, nil
}

func (t told) Log(context.Context, string) ([]Past, error) { return t.log, nil }
