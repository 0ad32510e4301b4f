package journal

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// FuzzRead reads rows that any client of NB may have written. The texts of entries are clean (R18), and every layout
// has clean names.
func FuzzRead(f *testing.F) {
	const hostile = "\x1b[2Ja\r\nnext: juju remove-unit ovn-central/0"
	long := strings.Repeat("h", 110_000)
	candidates := []schedule.Candidate{{Chassis: hostile, Priority: 1}}
	layout := Layout{Gateways: map[string][]string{hostile: {long}, "lrp-1": {hostile, "c1"}}, Cordons: []string{hostile}}
	id, packed := layout.bodyID(), layout.pack()
	tag, _ := json.Marshal(record{
		ID: "drain-1", Operation: hostile, Chassis: long, By: hostile, Added: []string{hostile, long}, Left: 1,
		Changes: []schedule.AppliedChange{{
			Group: hostile, Storage: hostile, Before: candidates, After: candidates,
			Base: candidates,
		}},
		Tag: &Tag{Outcome: Outcome(long), Revision: layout.id(), Body: id, Cordons: []string{hostile}},
	})
	stored, _ := json.Marshal(body{BodyID: id, Packed: packed})
	for _, tag := range []string{
		string(tag), "{}", "null", "garbage", `{"id":"\u0000","at":"9999-12-31T23:59:59Z"}`,
		`{"id":"g1","changes":[{"group":"a\u0000","before":null}]}`,
	} {
		for _, body := range []string{
			string(stored), `{"body-id":"x","packed":"!"}`, `{"body-id":"x","packed":"7cE="}`,
			"[]",
		} {
			f.Add(tag, body)
		}
	}
	f.Fuzz(func(t *testing.T, tag, body string) {
		b := Read(map[string]string{"0f7a": tag, "1f7a": body})
		rows := len(b.Findings)
		for _, some := range b.rows {
			rows += len(some)
		}
		for _, e := range b.Entries {
			rows += len(e.records)
			for _, r := range e.records {
				cleaned := r
				foreign.AllNames(&cleaned)
				require.Equal(t, cleaned, r)
			}
			cleaned := e
			foreign.Texts(&cleaned)
			require.Equal(t, e, cleaned)
			for _, name := range append([]string{e.ID, e.By, e.Chassis, e.Operation}, e.Added...) {
				require.True(t, foreign.IsName(name), "%q", name)
			}
		}
		require.Equal(t, 2, rows, "each row is read, or a finding names it")
		for _, v := range []Version{Last, Successful, Version(layout.id())} {
			l, err := b.Layout(v)
			if err != nil {
				require.Less(t, len(err.Error()), 2*foreign.MaxReason)
				continue
			}
			for gateway, chassis := range l.Gateways {
				require.True(t, foreign.IsName(gateway))
				for _, name := range chassis {
					require.True(t, foreign.IsName(name))
				}
			}
		}
	})
}
