package juju_test

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func addresses(texts ...string) []netip.Addr {
	var all []netip.Addr
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// subnets are addresses, each with its network.
func subnets(texts ...string) map[netip.Addr]netip.Prefix {
	all := map[netip.Addr]netip.Prefix{}
	for i := 0; i < len(texts); i += 2 {
		all[netip.MustParseAddr(texts[i])] = netip.MustParsePrefix(texts[i+1])
	}
	return all
}

// The answers are written by Juju's own code: see networkInfo.
func TestNetworkGet_every_form(t *testing.T) {
	t.Parallel()
	type a [3]string // hostname, value, CIDR
	node1 := []string{"node1.maas"}
	for name, tt := range map[string]struct {
		devices [][]a
		ingress []string
		want    juju.Network
	}{
		"one address": {
			[][]a{{{"", "10.0.0.1", "10.0.0.0/24"}}},
			[]string{"10.0.0.1"},
			juju.Network{
				Bind: addresses("10.0.0.1"), Ingress: addresses("10.0.0.1"), Subnets: subnets("10.0.0.1", "10.0.0.0/24"),
			},
		},
		"virtual address, listed twice": {
			[][]a{{{"", "10.0.0.5", "10.0.0.5/32"}, {"", "10.0.0.1", "10.0.0.1/32"}, {"", "10.0.0.1", "10.0.0.0/24"}}},
			nil,
			juju.Network{
				Bind: addresses("10.0.0.5", "10.0.0.1"), Subnets: subnets("10.0.0.5", "10.0.0.5/32", "10.0.0.1", "10.0.0.0/24"),
			},
		},
		"two devices, two families": {
			[][]a{{{"", "10.0.0.1", ""}, {"", "2001:db8::1", ""}}, {{"", "10.0.1.1", ""}, {"", "10.0.0.1", ""}}},
			[]string{"203.0.113.7", "10.0.0.1"},
			juju.Network{Bind: addresses("10.0.0.1", "2001:db8::1", "10.0.1.1"), Ingress: addresses("203.0.113.7", "10.0.0.1")},
		},
		"resolved host name": {
			[][]a{{{"node1.maas", "10.0.0.1", ""}}}, nil, juju.Network{Bind: addresses("10.0.0.1"), Hostnames: node1},
		},
		"unresolved host name": {
			[][]a{{{"node1.maas", "", ""}, {"", "10.0.0.1", ""}}},
			nil,
			juju.Network{Bind: addresses("10.0.0.1"), Hostnames: node1},
		},
		"host name in the place of an address": {
			[][]a{{{"", "node1.maas", ""}, {"", "10.0.0.1", ""}}},
			node1,
			juju.Network{Bind: addresses("10.0.0.1"), Hostnames: node1},
		},
		"address as its own host name": {
			[][]a{{{"10.0.0.1", "10.0.0.1", ""}}}, nil, juju.Network{Bind: addresses("10.0.0.1")},
		},
		"link-local addresses": {
			[][]a{{{"", "fe80::1%eth0", ""}, {"", "fe80::1", ""}, {"", "2001:db8::1", ""}}},
			nil,
			juju.Network{Bind: addresses("2001:db8::1")},
		},
		"IPv4 in the form of IPv6": {
			[][]a{{{"", "::ffff:10.0.0.1", ""}, {"", "10.0.0.1", ""}}}, nil, juju.Network{Bind: addresses("10.0.0.1")},
		},
		"device without addresses": {[][]a{nil, {{"", "10.0.0.1", ""}}}, nil, juju.Network{Bind: addresses("10.0.0.1")}},
		"ingress only":             {nil, []string{"10.0.0.1"}, juju.Network{Ingress: addresses("10.0.0.1")}},
	} {
		var devices []any
		for _, device := range tt.devices {
			var all []any
			for _, x := range device {
				all = append(all, map[string]string{"hostname": x[0], "value": x[1], "cidr": x[2]})
			}
			devices = append(devices, map[string]any{"interface-name": "eth0", "addresses": all})
		}
		stdout, err := json.Marshal(map[string]any{"bind-addresses": devices, "ingress-addresses": tt.ingress})
		require.NoError(t, err)
		got, err := juju.New(answers(string(stdout))).NetworkGet(t.Context(), "ovsdb", "")
		require.NoError(t, err)
		assert.Equal(t, tt.want, got, name)
	}
	for _, nothing := range []string{"{}", "null"} {
		got, err := juju.New(answers(nothing)).NetworkGet(t.Context(), "ovsdb", "")
		require.NoError(t, err)
		assert.Equal(t, juju.Network{}, got)
	}
}

func TestNetworkGet_by_relation(t *testing.T) {
	t.Parallel()
	script := tools(t, runtest.Expect("network-get", "--format=json", "-r", "ovsdb-cms:4", "ovsdb-cms").
		Writes(`{"bind-addresses":[{"addresses":[{"value":"10.0.0.1"}]}],"ingress-addresses":["203.0.113.7"]}`))
	got, err := script.NetworkGet(t.Context(), "ovsdb-cms", "ovsdb-cms:4")
	require.NoError(t, err)
	assert.Equal(t, addresses("203.0.113.7"), got.Ingress)
}

func TestNetworkGet_binding_without_network_is_empty(t *testing.T) {
	t.Parallel()
	none := fails(1, `ERROR no network config found for binding "ovsdb"`+"\n")
	got, err := juju.New(none).NetworkGet(t.Context(), "ovsdb", "")
	require.NoError(t, err)
	assert.Equal(t, juju.Network{}, got)
}

func TestChoose(t *testing.T) {
	t.Parallel()
	const own, virtual, other, moved = "10.0.0.1", "10.0.0.5", "10.0.0.9", "10.9.0.1"
	known := subnets(own, "10.0.0.0/24", virtual, "10.0.0.5/32", other, "10.0.0.0/24", "2001:db8::1", "2001:db8::/64",
		"2001:db8::5", "2001:db8::5/128")
	tests := map[string]struct {
		offered, inUse, machine []netip.Addr
		chosen, better          string
	}{
		"new_unit/first":                 {offered: addresses(own, other), chosen: own},
		"new_unit/virtual_address_first": {offered: addresses(virtual, own), chosen: own},
		"new_unit/virtual_address_of_IPv6_first": {
			offered: addresses("2001:db8::5", "2001:db8::1"),
			chosen:  "2001:db8::1",
		},
		"new_unit/nothing_but_a_virtual_address":  {offered: addresses(virtual), chosen: virtual},
		"new_unit/unknown_subnet_before_a_known":  {offered: addresses("10.0.0.7", own), chosen: own},
		"new_unit/unknown_subnet_after_a_virtual": {offered: addresses(virtual, "10.0.0.7"), chosen: "10.0.0.7"},
		"new_unit/family_of_the_first":            {offered: addresses(virtual, "2001:db8::1", own), chosen: own},
		"new_unit/other_family_before_a_virtual":  {offered: addresses(virtual, "2001:db8::1"), chosen: "2001:db8::1"},
		"new_unit/nothing":                        {machine: addresses(own)},
		"member/virtual_address_first":            {offered: addresses(virtual, own), inUse: addresses(own), chosen: own},
		"member/other_address_first":              {offered: addresses(other, own), inUse: addresses(own), chosen: own},
		"member/in_another_space_now": {
			offered: addresses(moved), inUse: addresses(own),
			machine: addresses(own, moved), chosen: own, better: moved,
		},
		"member/nothing_offered": {inUse: addresses(own), machine: addresses(own), chosen: own},
		"member/machine_unknown": {offered: addresses(other, own), inUse: addresses(own), chosen: own},
		"member/address_gone": {
			offered: addresses(virtual, other), inUse: addresses(own),
			machine: addresses(virtual, other), chosen: other,
		},
		"member/address_gone_of_one_database": {
			offered: addresses(other), inUse: addresses(own, other),
			machine: addresses(other), chosen: other,
		},
		"member/at_a_virtual_address": {
			offered: addresses(virtual, own), inUse: addresses(virtual),
			machine: addresses(virtual, own), chosen: virtual, better: own,
		},
		"member/at_the_only_address_a_virtual_one": {
			offered: addresses(virtual), inUse: addresses(virtual),
			chosen: virtual,
		},
		"member/at_a_virtual_address_that_has_gone": {
			offered: addresses(own), inUse: addresses(virtual),
			machine: addresses(own), chosen: own,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := func(a netip.Addr) string {
				if !a.IsValid() {
					return ""
				}
				return a.String()
			}
			chosen, better := juju.Network{Subnets: known}.Choose(tt.offered, tt.inUse, tt.machine)
			assert.Equal(t, [2]string{tt.chosen, tt.better}, [2]string{text(chosen), text(better)})
		})
	}
}
