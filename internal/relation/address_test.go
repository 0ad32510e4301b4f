package relation

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The Python charm published these bytes, for many readers.
func TestFormatAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"10.0.0.1":                `"10.0.0.1"`,
		"2001:db8::1":             `"[2001:db8::1]"`,
		"2001:DB8:0:0:0:0:0:1":    `"[2001:db8::1]"`,
		"2001:db8:0:1:0:0:0:1":    `"[2001:db8:0:1::1]"`,
		"fe80::1%eth0":            `"[fe80::1]"`,
		"::ffff:10.0.0.1":         `"10.0.0.1"`,
		"fd42:1:2:3:216:3eff:0:a": `"[fd42:1:2:3:216:3eff:0:a]"`,
	} {
		assert.Equal(t, want, FormatAddress(netip.MustParseAddr(address)), address)
	}
	assert.Empty(t, FormatAddress(netip.Addr{}))
}

func TestParseAddress_all_charms(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"10.0.0.1"`:           "10.0.0.1",    // charms.reactive
		`10.0.0.1`:             "10.0.0.1",    // Incus, LXD, the charms of Sunbeam
		`"[2001:db8::1]"`:      "2001:db8::1", // charms.reactive
		`[2001:db8::1]`:        "2001:db8::1", // LXD
		`2001:db8::1`:          "2001:db8::1", // Incus
		`"2001:db8::1"`:        "2001:db8::1",
		" \"10.0.0.1\"\n":      "10.0.0.1",
		`" 10.0.0.1 "`:         "10.0.0.1",
		`::ffff:10.0.0.1`:      "10.0.0.1",
		`"\u0031\u0030.0.0.1"`: "10.0.0.1",
		`127.0.0.1`:            "127.0.0.1", // several units on one machine
	} {
		got, err := parseAddress(value)
		require.NoError(t, err, value)
		assert.Equal(t, netip.MustParseAddr(want), got, value)
	}
}

func TestParseAddress_refuses_others(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"", " \n", `""`, `"10.0.0.1`, `"10.0.0.1" "10.0.0.2"`, "[]", "[2001:db8::1", "2001:db8::1]", "[10.0.0.1]", "[[::1]]",
		"juju-0", `["10.0.0.1"]`, "null", "None", "10", `{"address":"10.0.0.1"}`, "10.0.0.1,10.0.0.2", "10.0.0.0/24",
		"10.0.0.1:6641", "[2001:db8::1]:6641", "010.0.0.1", "10.0.0.1; ufw disable", strings.Repeat("x", 10000),
		"fe80::1%eth0", `"[fe80::1%eth0]"`, "0.0.0.0", "::", "::ffff:0.0.0.0", "224.0.0.1", "255.255.255.255",
	} {
		got, err := parseAddress(value)
		require.Error(t, err, value)
		assert.Less(t, len(err.Error()), 140)
		assert.Zero(t, got)
	}
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		published, ingress, want string
		refused                  bool
	}{
		"nothing":         {},
		"Juju's":          {ingress: "10.0.0.7", want: "10.0.0.7"},
		"LXD":             {published: "[2001:db8::7]", ingress: "10.0.0.9", want: "2001:db8::7"},
		"Incus":           {published: "10.0.0.7", want: "10.0.0.7"},
		"reactive charm":  {published: `"10.0.0.7"`, want: "10.0.0.7"},
		"garbage":         {published: "any", ingress: "10.0.0.9", want: "10.0.0.9", refused: true},
		"every address":   {published: "0.0.0.0", refused: true},
		"a host name":     {ingress: "juju-0"},
		"name in between": {published: "juju-0", ingress: "juju-0", refused: true},
	} {
		a, found, err := ClientAddress(map[string]string{
			"cms-client-bound-address": tt.published,
			"ingress-address":          tt.ingress,
		})
		assert.Equal(t, tt.want != "", found, name)
		if found {
			assert.Equal(t, tt.want, a.String(), name)
		}
		assert.Equal(t, tt.refused, err != nil, name)
	}
}
