package relation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

const (
	nbServer  raft.ID = "13e4f3b0-1111-4222-8333-444444444444"
	sbServer  raft.ID = "0017f3b0-1111-4222-8333-444444444444"
	nbCluster raft.ID = "f3b03511-e217-40a8-8457-fbae1b4bf63f"
	sbCluster raft.ID = "3265201c-afc0-4442-ac2e-fdcc02c0d011"
)

func TestIdentities_wire_form(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		unit   Identities
		nb, sb [5]string // identity, server, cluster, since, listed
	}{
		"both": {
			Identities{ovndb.NB: {Server: nbServer, Cluster: nbCluster, Listed: 56}, ovndb.SB: {sbServer, sbCluster, 1234, 0}},
			[5]string{"13e4", string(nbServer), string(nbCluster), "", "56"},
			[5]string{"0017", string(sbServer), string(sbCluster), "1234"},
		},
		"not joined":       {Identities{ovndb.SB: {Server: sbServer}}, [5]string{}, [5]string{"0017", string(sbServer)}},
		"four digits only": {Identities{ovndb.NB: {Server: "13e4"}}, [5]string{"13e4"}, [5]string{}},
		"nothing":          {},
	} {
		want := map[string]string{}
		for i, key := range []string{"identity", "server-id", "cluster-id", "member-since", "listed-since"} {
			want["nb-"+key], want["sb-"+key] = tt.nb[i], tt.sb[i]
		}
		assert.Equal(t, want, tt.unit.Databag(), name)
	}
}

func TestIdentities_round_trip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Identities{}
		for _, d := range ovndb.Databases() {
			if rapid.Bool().Draw(t, "is there") {
				id := Identity{Server: drawID(t)}
				if rapid.Bool().Draw(t, "by four digits") {
					id.Server = id.Server[:4]
				}
				if rapid.Bool().Draw(t, "has joined") {
					id.Cluster = drawID(t)
					id.Since = rapid.Uint64().Draw(t, "since")
					id.Listed = rapid.Uint64().Draw(t, "listed")
				}
				want[d] = id
			}
		}
		got, problems := ParseIdentities(want.Databag())
		require.Empty(t, problems)
		require.Equal(t, want, got)
	})
}

func drawID(t *rapid.T) raft.ID {
	return raft.ID(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`).Draw(t,
		"ID"))
}

func TestParseIdentities_omits_malformed(t *testing.T) {
	t.Parallel()
	const server, cluster = string(nbServer), string(nbCluster)
	good := Identity{Server: sbServer, Cluster: sbCluster}
	for name, tt := range map[string]struct {
		identity, server, cluster, since string // of nb; sb is always good
		nb                               Identity
		problem                          string // the key
	}{
		"nothing":              {},
		"cluster alone":        {cluster: cluster},
		"four digits":          {identity: "13e4", nb: Identity{Server: "13e4"}},
		"four digits, cluster": {identity: "13e4", cluster: cluster, nb: Identity{Server: "13e4", Cluster: nbCluster}},
		"member": {
			"13e4", server, cluster, "18446744073709551615", Identity{nbServer, nbCluster, 1<<64 - 1, 0}, "",
		},
		"index too large": {
			"13e4", server, cluster, "18446744073709551616", Identity{nbServer, nbCluster, 0, 0}, "nb-member-since",
		},
		"negative index":        {identity: "13e4", since: "-1", nb: Identity{Server: "13e4"}, problem: "nb-member-since"},
		"float of YAML":         {identity: "130000", problem: "nb-identity"},
		"capitals":              {identity: "13E4", problem: "nb-identity"},
		"space":                 {identity: "13e4 ", problem: "nb-identity"},
		"quotes":                {identity: `"13e4"`, problem: "nb-identity"},
		"too long":              {identity: strings.Repeat("a", 1000), problem: "nb-identity"},
		"malformed server":      {identity: "13e4", server: "13e4", problem: "nb-server-id"},
		"another server":        {identity: "13e4", server: string(sbServer), problem: "nb-server-id"},
		"zero server":           {identity: "0000", server: "00000000-0000-0000-0000-000000000000", problem: "nb-server-id"},
		"server without digits": {server: server, problem: "nb-identity"},
		"malformed cluster":     {"13e4", server, "f3b0", "", Identity{Server: nbServer}, "nb-cluster-id"},
	} {
		databag := Identities{ovndb.SB: good}.Databag()
		databag["nb-identity"], databag["nb-server-id"] = tt.identity, tt.server
		databag["nb-cluster-id"], databag["nb-member-since"] = tt.cluster, tt.since
		databag["nb_identity"], databag["bound-address"] = "zzzz", "10.0.0.1" // keys of other charms
		want := Identities{ovndb.SB: good}
		if tt.nb.Server != "" {
			want[ovndb.NB] = tt.nb
		}
		got, problems := ParseIdentities(databag)
		assert.Equal(t, want, got, name)
		if tt.problem == "" {
			assert.Empty(t, problems, name)
		} else if assert.Len(t, problems, 1, name) {
			assert.Equal(t, tt.problem, problems[0].Name, problems[0])
			assert.Less(t, len(problems[0].String()), 120)
		}
	}
}

// R16: while a unit has not published both identities, no member is stale.
func TestR16_complete_needs_both(t *testing.T) {
	t.Parallel()
	nb, sb := Identity{Server: nbServer}, Identity{Server: "0017"}
	assert.True(t, Identities{ovndb.NB: nb, ovndb.SB: sb}.Complete())
	for _, part := range []Identities{
		nil, {ovndb.NB: nb}, {ovndb.SB: sb}, {ovndb.NB: {Cluster: nbCluster}, ovndb.SB: {Cluster: sbCluster}},
	} {
		assert.False(t, part.Complete(), part)
	}
}

func TestMembers_round_trip(t *testing.T) {
	t.Parallel()
	m := Members{ovndb.NB: {"ssl:10.0.0.2:6643", "ssl:10.0.0.1:6643", "ssl:10.0.0.2:6643", "ssl:[fd77::1]:6643"}}
	databag := m.Databag()
	assert.Equal(t, map[string]string{"nb-members": "ssl:10.0.0.1:6643,ssl:10.0.0.2:6643,ssl:[fd77::1]:6643"}, databag,
		"the other database keeps its value")
	assert.Equal(t, Members{ovndb.NB: {"ssl:10.0.0.1:6643", "ssl:10.0.0.2:6643", "ssl:[fd77::1]:6643"}},
		ParseMembers(databag))
	assert.Empty(t, ParseMembers(nil))
}

// Unread, empty and present data differ.
func TestData_unread_is_not_empty(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data          Data
		unread, empty bool
	}{
		"not read":         {Data{}, true, false},
		"nothing there":    {Read(nil), false, true},
		"Juju's own":       {Read(map[string]string{"egress-subnets": "10.0.0.2/32"}), false, true},
		"taken away again": {Read(map[string]string{"nb-identity": ""}), false, true},
		"something":        {Read(map[string]string{"nb-identity": "13e4"}), false, false},
	} {
		assert.Equal(t, tt.unread, tt.data.Unread(), name)
		assert.Equal(t, tt.empty, tt.data.Empty(), name)
	}
}
