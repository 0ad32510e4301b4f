package cluster

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

func TestJudge_finds_false_or_harmful_status(t *testing.T) {
	calm := Phase{Certified: true}
	moving := Phase{Certified: true, Moving: true}
	down := Phase{Certified: true, Down: []string{"ovn-central/1"}}
	blackout := Phase{Certified: true, Moving: true, Down: []string{"ovn-central/0", "ovn-central/1"}, Blackout: true}
	tests := map[string]struct {
		phase   Phase
		word    string
		message string
		why     string
	}{
		"well":                         {calm, "active", "nb: leader, sb: follower; 3 of 3 up", ""},
		"before the CA":                {Phase{}, "blocked", "'certificates' missing", ""},
		"J9, after it":                 {moving, "blocked", "'certificates' missing", "the relation is there"},
		"J4":                           {moving, "blocked", "no unit has cluster 1f2e any more; deploy the application again", "to deploy again loses the data"},
		"F8":                           {moving, "blocked", "move /var/lib/ovn/ovnnb_db.db away", "to move a database away loses a member, and none is in the way"},
		"J5":                           {moving, "blocked", "nb: no quorum", "there is a quorum all the time"},
		"J3":                           {moving, "active", "stale member ovn-central/0 (nb a1b2 at ssl:10.0.0.1:6643, down)", "ovn-central/0 is not down, and leaves by itself"},
		"J3, with its command":         {moving, "active", "stale member ovn-central/0; run: juju run ovn-central/1 kick unit=ovn-central/0 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", "no member is down, none is to be kicked"},
		"really stale":                 {down, "active", "stale member ovn-central/1; run: juju run ovn-central/0 kick unit=ovn-central/1 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", ""},
		"another than the one":         {down, "active", "stale member ovn-central/0; run: juju run ovn-central/1 kick unit=ovn-central/0 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", "ovn-central/0 is not down, and leaves by itself"},
		"P1: on a machine that is off": {down, "active", "stale member ovn-central/1; run: juju run ovn-central/1 kick unit=ovn-central/1 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", "the machine of ovn-central/1 is off, and runs no command"},
		"a machine that is back":       {down, "active", "nb: ovn-central/1 is down; before its next hook (within 5 minutes): juju run ovn-central/1 resume (b1b2 at ssl:10.0.0.1:6643: it reports that it is disconnected)", ""},
		"a server that is not back": {
			down, "active", "nb: ovn-central/1 is down; if this lasts: juju run ovn-central/1 restart-services " +
				"services=ovn-ovsdb-server-nb (b1b2 at ssl:10.0.0.1:6643: it reports that it is disconnected)", "",
		},
		"all are up":                 {calm, "active", "2 of 3 up", "all members are up"},
		"one is down":                {down, "active", "2 of 3 up", ""},
		"on its way":                 {moving, "active", "3 of 4 up", ""},
		"a hook failed":              {moving, "error", `hook failed: "stop"`, "no hook may fail here"},
		"J7: the command is cut off": {down, "waiting", strings.Repeat("x", 117) + "juju run", "juju status cuts the command off"},
		"its beginning is shown":     {down, "waiting", "x: juju run ovn-central/0 kick", ""},
		"force, for a running unit": {
			Phase{Down: []string{"ovn-central/1"}, Cut: true},
			"waiting",
			"juju run ovn-central/0 kick unit=ovn-central/1 force=true", "",
		},
		"a bad option":                 {Phase{Certified: true, Refused: true}, "blocked", "ovsdb-server-election-timer", ""},
		"all are off":                  {blackout, "blocked", "nb: no quorum", ""},
		"all are off, and that is all": {blackout, "blocked", "deploy it again", "to deploy again loses the data"},
		"force, where nothing is bad":  {down, "waiting", "juju run ovn-central/0 kick unit=ovn-central/1 force=true", "nothing here needs force"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.why, Judge(test.phase, test.word, test.message))
		})
	}
}

// There are two phases, and the second permits less. Juju 4 keeps the log in whole seconds, and writes it later.
func TestWatch_log_is_judged_by_scene_of_its_time(t *testing.T) {
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
		"in the first phase, told in the second":       {at(19), force, 1},
		"what the first phase allows":                  {at(19), short, 0},
		"in the second that both have a part of":       {at(20), force, 1},
		"what only one of both allows":                 {at(20), short, 0},
		"in the second phase":                          {at(21), short, 1},
		"in that second, and the time says which part": {second.Add(time.Millisecond), short, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			word, message, _ := strings.Cut(test.shown, ": ")
			w := &watch{
				app: told{units: []string{"ovn-central/0"}, log: []Past{{Status: word, Message: message, Since: test.since}}}, out: io.Discard, last: map[string]string{},
				phases: []since{{Phase{Certified: true, Moving: true}, first}, {Phase{Certified: true}, second}},
			}
			require.NoError(t, w.logs(t.Context()))
			assert.Len(t, w.wrong, test.wrong, "%v", w.wrong)
		})
	}
}

// told is an application whose units all have the same log.
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

func TestFindings_are_read_and_found(t *testing.T) {
	all, err := ReadFindings(`[
		{"code": "MEMBER_DOWN", "severity": "warning", "subject": "nb sb ovn-central/12", "message": "down", "remedies": [
			{"deed": "start the machine of ovn-central/12"},
			{"when": "if ovn-central/12 is lost for good", "commands": ["juju remove-unit --force ovn-central/12", "juju add-unit ovn-central"]}]},
		{"code": "STALE_MEMBER", "severity": "warning", "subject": "sb ovn-central/4", "message": "stale", "remedies": [
			{"commands": ["juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"]}]}]`)
	require.NoError(t, err)
	for subject, want := range map[string]bool{
		"": true, "nb": true, "sb nb": true, "ovn-central/12": true, "nb ovn-central/12": true, "ovn-central/1": false, "nb ovn-central/4": false,
	} {
		assert.Equal(t, want, all.Has(finding.MemberDown, subject), subject)
	}
	assert.False(t, all.Has(finding.StaleMember, "nb"))
	assert.Equal(t, []string{"juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"}, all.Next(), "no deed, and nothing under a condition")
	down, is := all.Find(finding.MemberDown, "")
	require.True(t, is)
	assert.Equal(t, []string{"juju remove-unit --force ovn-central/12", "juju add-unit ovn-central"}, Commands(down))

	for _, results := range []any{nil, "", "no document"} {
		_, err := ReadFindings(results)
		assert.Error(t, err, "%v", results)
	}
}
