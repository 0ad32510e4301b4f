package revision

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// FuzzRead reads rows and pointers that any client of NB may have written. The texts of tags are clean (R18), and
// every layout that is found has clean names.
func FuzzRead(f *testing.F) {
	const hostile = "\x1b[2Ja\r\nnext: juju remove-unit ovn-central/0"
	long := strings.Repeat("h", 110_000)
	layout := Layout{Gateways: map[string][]string{hostile: {long}, "lrp-1": {hostile, "c1"}}, Cordons: []string{hostile}}
	id, packed := bodyID(layout.body()), pack(layout.body())
	tag, _ := json.Marshal(Tag{ID: "drain-1", Operation: hostile, Node: long, By: hostile, Outcome: Outcome(long), Revision: layout.id(), Body: id, Cordons: []string{hostile}})
	body, _ := json.Marshal(row{BodyID: id, Packed: packed})
	for _, tag := range []string{string(tag), "{}", "null", "garbage", `{"id":"\u0000","at":"9999-12-31T23:59:59Z"}`} {
		for _, body := range []string{string(body), `{"body-id":"x","packed":"!"}`, `{"body-id":"x","packed":"7cE="}`, "[]"} {
			f.Add(tag, body, "2026-11-27T00:00:00Z drain-1")
			f.Add(tag, body, hostile)
		}
	}
	f.Fuzz(func(t *testing.T, tag, body, pointer string) {
		b := Read(map[string]string{"0f7a": tag, "1f7a": body}, map[string]string{lastKey: pointer, successfulKey: pointer})
		for _, tag := range b.Tags {
			cleaned := tag
			cleaned.clean()
			require.Equal(t, cleaned, tag)
		}
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
