package relation

import (
	"fmt"
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
	tests := map[string]struct {
		unit Identities
		want map[string]string
	}{
		"both": {Identities{ovndb.NB: {Server: nbServer, Cluster: nbCluster}, ovndb.SB: {Server: sbServer, Cluster: sbCluster, Since: 1234}}, map[string]string{
			"nb-identity": "13e4", "nb-server-id": string(nbServer), "nb-cluster-id": string(nbCluster), "nb-member-since": "",
			"sb-identity": "0017", "sb-server-id": string(sbServer), "sb-cluster-id": string(sbCluster), "sb-member-since": "1234",
		}},
		"one has not joined, the other is not there": {Identities{ovndb.SB: {Server: sbServer}}, map[string]string{
			"nb-identity": "", "nb-server-id": "", "nb-cluster-id": "", "nb-member-since": "",
			"sb-identity": "0017", "sb-server-id": string(sbServer), "sb-cluster-id": "", "sb-member-since": "",
		}},
		"four digits are all that is known": {Identities{ovndb.NB: {Server: "13e4"}}, map[string]string{
			"nb-identity": "13e4", "nb-server-id": "", "nb-cluster-id": "", "nb-member-since": "",
			"sb-identity": "", "sb-server-id": "", "sb-cluster-id": "", "sb-member-since": "",
		}},
		"nothing": {nil, map[string]string{
			"nb-identity": "", "nb-server-id": "", "nb-cluster-id": "", "nb-member-since": "",
			"sb-identity": "", "sb-server-id": "", "sb-cluster-id": "", "sb-member-since": "",
		}},
	}
	for name, tt := range tests {
		assert.Equal(t, tt.want, tt.unit.Databag(), name)
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
	return raft.ID(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`).Draw(t, "ID"))
}

// Four digits are text, even if they look like a number.
func TestParseIdentities_numbers_stay_text(t *testing.T) {
	t.Parallel()
	for i := range 1 << 16 {
		text := fmt.Sprintf("%04x", i)
		u, problems := ParseIdentities(map[string]string{"sb-identity": text})
		if len(problems) > 0 || string(u[ovndb.SB].Server) != text {
			require.Failf(t, "not kept", "%s became %v, %v", text, u, problems)
		}
	}
}

func TestParseIdentities_omits_malformed(t *testing.T) {
	t.Parallel()
	good := Identity{Server: sbServer, Cluster: sbCluster}
	tests := map[string]struct {
		bag      map[string]string // of nb; sb is always good
		nb       *Identity
		problems []string
	}{
		"nothing":                {nil, nil, nil},
		"empty values":           {map[string]string{"nb-identity": "", "nb-server-id": "", "nb-cluster-id": ""}, nil, nil},
		"keys of others":         {map[string]string{"nb_identity": "zzzz", "bound-address": "10.0.0.1", "egress-subnets": "x"}, nil, nil},
		"a cluster alone":        {map[string]string{"nb-cluster-id": string(nbCluster)}, nil, nil},
		"four digits":            {map[string]string{"nb-identity": "13e4"}, &Identity{Server: "13e4"}, nil},
		"four digits, a cluster": {map[string]string{"nb-identity": "13e4", "nb-cluster-id": string(nbCluster)}, &Identity{Server: "13e4", Cluster: nbCluster}, nil},
		"a member": {
			map[string]string{"nb-identity": "13e4", "nb-server-id": string(nbServer), "nb-cluster-id": string(nbCluster), "nb-member-since": "18446744073709551615"},
			&Identity{Server: nbServer, Cluster: nbCluster, Since: 1<<64 - 1},
			nil,
		},
		"since nonsense": {
			map[string]string{"nb-identity": "13e4", "nb-server-id": string(nbServer), "nb-cluster-id": string(nbCluster), "nb-member-since": "18446744073709551616"},
			&Identity{Server: nbServer, Cluster: nbCluster},
			[]string{`nb-member-since is "18446744073709551616", not an index`},
		},
		"since less than nothing": {
			map[string]string{"nb-identity": "13e4", "nb-member-since": "-1"},
			&Identity{Server: "13e4"},
			[]string{`nb-member-since is "-1", not an index`},
		},
		"a number that was one": {map[string]string{"nb-identity": "130000"}, nil, []string{`nb-identity is "130000", not four hex digits`}},
		"capitals":              {map[string]string{"nb-identity": "13E4"}, nil, []string{`nb-identity is "13E4", not four hex digits`}},
		"a blank":               {map[string]string{"nb-identity": "13e4 "}, nil, []string{`nb-identity is "13e4 ", not four hex digits`}},
		"quotes":                {map[string]string{"nb-identity": `"13e4"`}, nil, []string{`nb-identity is "\"13e4\"", not four hex digits`}},
		"too much": {
			map[string]string{"nb-identity": strings.Repeat("a", 1000)},
			nil,
			[]string{fmt.Sprintf("nb-identity is %q, not four hex digits", strings.Repeat("a", 40))},
		},
		"malformed_server": {
			map[string]string{"nb-identity": "13e4", "nb-server-id": "13e4"},
			nil,
			[]string{`nb-server-id is "13e4", not an ID that begins with 13e4`},
		},
		"another server": {
			map[string]string{"nb-identity": "13e4", "nb-server-id": string(sbServer)},
			nil,
			[]string{`nb-server-id is "0017f3b0-1111-4222-8333-444444444444", not an ID that begins with 13e4`},
		},
		"server_without_ID": {
			map[string]string{"nb-identity": "0000", "nb-server-id": "00000000-0000-0000-0000-000000000000"},
			nil,
			[]string{`nb-server-id is "00000000-0000-0000-0000-000000000000", not an ID that begins with 0000`},
		},
		"a server without its digits": {
			map[string]string{"nb-server-id": string(nbServer)},
			nil,
			[]string{`nb-identity is "", not four hex digits`},
		},
		"malformed_cluster": {
			map[string]string{"nb-identity": "13e4", "nb-server-id": string(nbServer), "nb-cluster-id": "f3b0"},
			&Identity{Server: nbServer},
			[]string{`nb-cluster-id is "f3b0", not an ID`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databag := Identities{ovndb.SB: good}.Databag()
			for key, value := range tt.bag {
				databag[key] = value
			}
			want := Identities{ovndb.SB: good}
			if tt.nb != nil {
				want[ovndb.NB] = *tt.nb
			}
			got, problems := ParseIdentities(databag)
			assert.Equal(t, want, got)
			assert.Equal(t, tt.problems, problems)
		})
	}
}

// R16: while a unit has not published both identities, no member is stale.
func TestR16_complete_needs_both(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		unit Identities
		want bool
	}{
		"none":                {nil, false},
		"nb":                  {Identities{ovndb.NB: {Server: nbServer, Cluster: nbCluster}}, false},
		"sb":                  {Identities{ovndb.SB: {Server: sbServer}}, false},
		"clusters only":       {Identities{ovndb.NB: {Cluster: nbCluster}, ovndb.SB: {Cluster: sbCluster}}, false},
		"both":                {Identities{ovndb.NB: {Server: nbServer}, ovndb.SB: {Server: sbServer}}, true},
		"both by four digits": {Identities{ovndb.NB: {Server: "13e4"}, ovndb.SB: {Server: "0017"}}, true},
	}
	for name, tt := range tests {
		assert.Equal(t, tt.want, tt.unit.Complete(), name)
	}
}

func TestNames_stable_order(t *testing.T) {
	t.Parallel()
	u := UnitIdentities{"ovn-central/2": nil, "ovn-central/0": nil, "ovn-central/1": nil}
	assert.Equal(t, []string{"ovn-central/0", "ovn-central/1", "ovn-central/2"}, u.Names())
	assert.Empty(t, UnitIdentities(nil).Names())
}

func TestMembers_round_trip(t *testing.T) {
	t.Parallel()
	m := Members{ovndb.NB: {"ssl:10.0.0.2:6643", "ssl:10.0.0.1:6643", "ssl:10.0.0.2:6643", "ssl:[fd77::1]:6643"}}
	databag := m.Databag()
	assert.Equal(t, map[string]string{"nb-members": "ssl:10.0.0.1:6643,ssl:10.0.0.2:6643,ssl:[fd77::1]:6643"}, databag,
		"of a database that this unit can't tell of, what stands there stays")
	assert.Equal(t, Members{ovndb.NB: {"ssl:10.0.0.1:6643", "ssl:10.0.0.2:6643", "ssl:[fd77::1]:6643"}}, ParseMembers(databag))
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
		"Juju's own":       {Read(map[string]string{"egress-subnets": "10.0.0.2/32", "private-address": "10.0.0.2"}), false, true},
		"taken away again": {Read(map[string]string{"nb-identity": ""}), false, true},
		"something":        {Read(map[string]string{"nb-identity": "13e4"}), false, false},
	} {
		assert.Equal(t, tt.unread, tt.data.Unread(), name)
		assert.Equal(t, tt.empty, tt.data.Empty(), name)
	}
}
