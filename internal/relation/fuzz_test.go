package relation

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// FuzzParseUnit shows that what a peer writes never brings the reader down, never
// becomes an identity that is none, and never hides the other database.
func FuzzParseUnit(f *testing.F) {
	f.Add("13e4", string(nbServer), string(nbCluster), "17")
	f.Add("0017", "", "", "-1")
	f.Add("", string(nbServer), "", "")
	f.Add("130000", "null", "{}", "0x10")
	f.Add("13e4\n", "13E4F3B0-1111-4222-8333-444444444444", "\x00\xff", "99999999999999999999")
	f.Fuzz(func(t *testing.T, identity, server, cluster, since string) {
		databag := map[string]string{"nb-identity": identity, "nb-server-id": server, "nb-cluster-id": cluster, "nb-member-since": since}
		u, problems := ParseIdentities(databag)
		for _, p := range problems {
			require.Less(t, len(p), 500) // quotes 40 characters, of which each can take ten bytes
		}
		id, found := u[ovndb.NB]
		if found {
			require.True(t, raft.IsIdentity(id.Server.Short()), "%q", id.Server)
			require.Equal(t, identity, id.Server.Short())
			require.Contains(t, []int{4, 36}, len(id.Server))
			require.Contains(t, []int{0, 36}, len(id.Cluster))
		}
		if !found && (identity != "" || server != "") {
			require.NotEmpty(t, problems, "left out without a word: %q", databag)
		}

		both := Identities{ovndb.SB: {Server: sbServer}}.Databag()
		maps.Copy(both, databag)
		u, _ = ParseIdentities(both)
		require.Equal(t, Identity{Server: sbServer}, u[ovndb.SB])
		require.Equal(t, id, u[ovndb.NB])
	})
}

// FuzzParseHistory shows that damaged data never bring the reader down, that what
// is read from them has full IDs only, and that it is written as it was read.
func FuzzParseHistory(f *testing.F) {
	whole := History{}.removed(ovndb.NB, nbServer, "ovn-central/4", time.Unix(1795000000, 0)).Databag()["nb-servers"]
	for _, text := range []string{
		whole, whole[:len(whole)-1], "", "null", "{}", "[]", `""`, "0", `{"13e4":{}}`, `{"` + string(nbServer) + `":null}`,
		`{"` + string(nbServer) + `":{"removed":"yesterday"}}`, `{"` + string(nbServer) + `":{"removed":"9999-12-31T23:59:59-23:59"}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sound := History{}.removed(ovndb.SB, sbServer, "ovn-central/5", time.Unix(1795000000, 0))
		databag := sound.Databag()
		databag["nb-servers"] = text
		h, _ := ParseHistory(databag)
		require.Equal(t, sound[ovndb.SB], h[ovndb.SB], "the other database")
		for id := range h[ovndb.NB] {
			_, ok := raft.ParseID(string(id))
			require.True(t, ok, "%q", id)
		}
		again, problems := ParseHistory(h.Databag())
		require.Empty(t, problems)
		require.Len(t, again[ovndb.NB], len(h[ovndb.NB]))
		for id, k := range h[ovndb.NB] {
			require.Equal(t, k.Unit, again[ovndb.NB][id].Unit)
			require.True(t, k.Removed.Equal(again[ovndb.NB][id].Removed))
		}
		h.Merge(sound)
	})
}
