package relation

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bytes are those that the Python charm published for many readers.
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
	const notIP, noHost = "it is neither IPv4 nor IPv6", "it is not of one host"
	tests := map[string]struct{ value, reason string }{
		"nothing":             {"", "it is empty"},
		"blanks":              {" \n", "it is empty"},
		"an empty string":     {`""`, "it is empty"},
		"brackets":            {"[]", notIP},
		"half a string":       {`"10.0.0.1`, "it is no JSON string"},
		"two strings":         {`"10.0.0.1" "10.0.0.2"`, "it is no JSON string"},
		"half a bracket":      {"[2001:db8::1", notIP},
		"the other half":      {"2001:db8::1]", notIP},
		"IPv4 in brackets":    {"[10.0.0.1]", notIP},
		"two pairs":           {"[[::1]]", notIP},
		"a name":              {"juju-0", notIP},
		"a list":              {`["10.0.0.1"]`, notIP},
		"an object":           {`{"address":"10.0.0.1"}`, notIP},
		"null":                {"null", notIP},
		"None":                {"None", notIP},
		"a number":            {"10", notIP},
		"several":             {"10.0.0.1,10.0.0.2", notIP},
		"a network":           {"10.0.0.0/24", notIP},
		"a port":              {"10.0.0.1:6641", notIP},
		"a port, with IPv6":   {"[2001:db8::1]:6641", notIP},
		"leading zeros":       {"010.0.0.1", notIP},
		"a zone":              {"fe80::1%eth0", "its zone means nothing on other machines"},
		"a zone, in brackets": {`"[fe80::1%eth0]"`, "its zone means nothing on other machines"},
		"everybody":           {"0.0.0.0", noHost},
		"everybody, by IPv6":  {"::", noHost},
		"everybody, mapped":   {"::ffff:0.0.0.0", noHost},
		"many":                {"224.0.0.1", noHost},
		"all of a network":    {"255.255.255.255", noHost},
		"a rule":              {"10.0.0.1; ufw disable", notIP},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseAddress(tt.value)
			var refused *AddressError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, AddressError{Value: tt.value, Reason: tt.reason}, *refused)
			assert.Zero(t, got)
		})
	}
	_, err := parseAddress("juju-0")
	require.EqualError(t, err, `"juju-0" is no address: it is neither IPv4 nor IPv6`)
	_, err = parseAddress(strings.Repeat("x", 10000))
	assert.Less(t, len(err.Error()), 120)
}

func TestBoundAddress(t *testing.T) {
	t.Parallel()
	assert.Equal(t, map[string]string{"bound-address": `"10.0.0.1"`}, BoundAddress(netip.MustParseAddr("10.0.0.1")))
	assert.Equal(t, map[string]string{"bound-address": `"[2001:db8::1]"`}, BoundAddress(netip.MustParseAddr("2001:db8::1")))
	assert.Equal(t, map[string]string{"bound-address": ""}, BoundAddress(netip.Addr{}))

	a, found, err := parseBoundAddress(BoundAddress(netip.MustParseAddr("2001:db8::1")))
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, netip.MustParseAddr("2001:db8::1"), a)
	_, found, err = parseBoundAddress(BoundAddress(netip.Addr{}))
	require.NoError(t, err)
	assert.False(t, found)
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		bag   map[string]string
		want  string
		error string
	}{
		"a client that says nothing": {bag: map[string]string{"ingress-address": "10.0.0.7"}},
		"nothing":                    {bag: map[string]string{"cms-client-bound-address": ""}},
		"LXD":                        {bag: map[string]string{"cms-client-bound-address": "[2001:db8::7]"}, want: "2001:db8::7"},
		"Incus":                      {bag: map[string]string{"cms-client-bound-address": "10.0.0.7"}, want: "10.0.0.7"},
		"a reactive charm":           {bag: map[string]string{"cms-client-bound-address": `"10.0.0.7"`}, want: "10.0.0.7"},
		"garbage": {
			bag:   map[string]string{"cms-client-bound-address": "any"},
			error: `cannot read cms-client-bound-address: "any" is no address: it is neither IPv4 nor IPv6`,
		},
		"everybody": {
			bag:   map[string]string{"cms-client-bound-address": "0.0.0.0"},
			error: `cannot read cms-client-bound-address: "0.0.0.0" is no address: it is not of one host`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, found, err := cmsClient(tt.bag)
			if tt.error != "" {
				require.EqualError(t, err, tt.error)
				var refused *AddressError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, tt.bag["cms-client-bound-address"], refused.Value)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, tt.want != "", found)
			if found {
				assert.Equal(t, netip.MustParseAddr(tt.want), a)
			}
		})
	}
}
