package ovsdb

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// This transaction makes the lock of R5 safe.
func TestSwap_waits_for_one_pair(t *testing.T) {
	t.Parallel()
	const (
		uuid   = "0b5e3c1a-0000-4000-8000-000000000001"
		where  = `["_uuid","==",["uuid","` + uuid + `"]]`
		insert = `["external_ids","insert",["map",[["key","next"]]]]`
		mutate = `{"op":"mutate","table":"NB_Global","mutations":[`
		change = mutate + `["external_ids","delete","key"],` + insert + `],"where":[` + where + `]}`
		add    = mutate + insert + `],"where":[` + where + `]}`
		create = `{"op":"insert","table":"NB_Global","row":{"external_ids":["map",[["key","next"]]]},"uuid-name":"global"}`
		look   = `{"where":[` + where + `],"op":"select","table":"NB_Global","columns":["external_ids"]}`
	)
	wait := func(old string) string {
		return `{"op":"wait","table":"NB_Global","rows":[{"_uuid":["uuid","` + uuid + `"]}],"columns":["_uuid"],` +
			`"timeout":0,"where":[` + where + `,["external_ids","includes",["map",[["key","` + old + `"]]]]],"until":"=="}`
	}
	for name, c := range map[string]struct {
		uuid string
		ids  map[string]string
		sent string
	}{
		"a value":        {uuid, map[string]string{"key": "old", "other": "pair"}, wait("old") + "," + change + "," + look},
		"an empty value": {uuid, map[string]string{"key": ""}, wait("") + "," + change + "," + look},
		"no value":       {uuid, map[string]string{"other": "pair"}, add + "," + look},
		"no row":         {"", nil, create},
	} {
		sent, err := json.Marshal(swap("NB_Global", c.uuid, c.ids, "key", "next"))
		require.NoError(t, err)
		assert.Equal(t, "["+c.sent+"]", string(sent), name)
	}
}
