package juju_test

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"strings"
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

// subnets returns addresses, each with its network.
func subnets(texts ...string) map[netip.Addr]netip.Prefix {
	all := map[netip.Addr]netip.Prefix{}
	for i := 0; i < len(texts); i += 2 {
		all[netip.MustParseAddr(texts[i])] = netip.MustParsePrefix(texts[i+1])
	}
	return all
}

// Juju's own code writes these answers: see networkInfo.
func TestNetworkGet_every_form(t *testing.T) {
	t.Parallel()
	type a [3]string // hostname, value, CIDR
	one, node1 := addresses("10.0.0.1"), []string{"node1.maas"}
	for name, tt := range map[string]struct {
		devices [][]a
		ingress []string
		want    juju.Network
	}{
		"one_address": {
			[][]a{{{"", "10.0.0.1", "10.0.0.0/24"}}},
			[]string{"10.0.0.1"},
			juju.Network{Bind: one, Ingress: one, Subnets: subnets("10.0.0.1", "10.0.0.0/24")},
		},
		"virtual_address_listed_twice": {
			[][]a{{{"", "10.0.0.5", "10.0.0.5/32"}, {"", "10.0.0.1", "10.0.0.1/32"}, {"", "10.0.0.1", "10.0.0.0/24"}}},
			nil,
			juju.Network{
				Bind:    addresses("10.0.0.5", "10.0.0.1"),
				Subnets: subnets("10.0.0.5", "10.0.0.5/32", "10.0.0.1", "10.0.0.0/24"),
			},
		},
		"two_devices_two_families": {
			[][]a{{{"", "10.0.0.1", ""}, {"", "2001:db8::1", ""}}, {{"", "10.0.1.1", ""}, {"", "10.0.0.1", ""}}},
			[]string{"203.0.113.7", "10.0.0.1"},
			juju.Network{Bind: addresses("10.0.0.1", "2001:db8::1", "10.0.1.1"), Ingress: addresses("203.0.113.7", "10.0.0.1")},
		},
		"resolved_host_name": {[][]a{{{"node1.maas", "10.0.0.1", ""}}}, nil, juju.Network{Bind: one, Hostnames: node1}},
		"unresolved_host_name": {
			[][]a{{{"node1.maas", "", ""}, {"", "10.0.0.1", ""}}}, nil, juju.Network{Bind: one, Hostnames: node1},
		},
		"host_name_as_address": {
			[][]a{{{"", "node1.maas", ""}, {"", "10.0.0.1", ""}}}, node1, juju.Network{Bind: one, Hostnames: node1},
		},
		"address_as_host_name": {[][]a{{{"10.0.0.1", "10.0.0.1", ""}}}, nil, juju.Network{Bind: one}},
		"link_local_addresses": {
			[][]a{{{"", "fe80::1%eth0", ""}, {"", "fe80::1", ""}, {"", "10.0.0.1", ""}}}, nil, juju.Network{Bind: one},
		},
		"IPv4_in_v6":         {[][]a{{{"", "::ffff:10.0.0.1", ""}, {"", "10.0.0.1", ""}}}, nil, juju.Network{Bind: one}},
		"device_without_any": {[][]a{nil, {{"", "10.0.0.1", ""}}}, nil, juju.Network{Bind: one}},
		"ingress_only":       {nil, []string{"10.0.0.1"}, juju.Network{Ingress: one}},
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
	const own, virtual, other, moved, none = "10.0.0.1", "10.0.0.5", "10.0.0.9", "10.9.0.1", "invalid IP"
	known := subnets(own, "10.0.0.0/24", virtual, "10.0.0.5/32", other, "10.0.0.0/24", "2001:db8::1", "2001:db8::/64",
		"2001:db8::5", "2001:db8::5/128")
	for name, tt := range map[string]struct {
		offered, inUse, machine string // separated by spaces
		chosen, better          string
	}{
		"new_unit/first":                          {offered: own + " " + other, chosen: own},
		"new_unit/virtual_address_first":          {offered: virtual + " " + own, chosen: own},
		"new_unit/virtual_address_of_IPv6_first":  {offered: "2001:db8::5 2001:db8::1", chosen: "2001:db8::1"},
		"new_unit/nothing_but_a_virtual_address":  {offered: virtual, chosen: virtual},
		"new_unit/unknown_subnet_before_a_known":  {offered: "10.0.0.7 " + own, chosen: own},
		"new_unit/unknown_subnet_after_a_virtual": {offered: virtual + " 10.0.0.7", chosen: "10.0.0.7"},
		"new_unit/family_of_the_first":            {offered: virtual + " 2001:db8::1 " + own, chosen: own},
		"new_unit/other_family_before_a_virtual":  {offered: virtual + " 2001:db8::1", chosen: "2001:db8::1"},
		"new_unit/nothing":                        {machine: own},
		"member/virtual_address_first":            {offered: virtual + " " + own, inUse: own, chosen: own},
		"member/other_address_first":              {offered: other + " " + own, inUse: own, chosen: own},
		"member/in_another_space_now":             {moved, own, own + " " + moved, own, moved},
		"member/nothing_offered":                  {inUse: own, machine: own, chosen: own},
		"member/address_gone":                     {virtual + " " + other, own, virtual + " " + other, other, ""},
		"member/address_gone_of_one_database":     {other, own + " " + other, other, other, ""},
		"member/at_a_virtual_address":             {virtual + " " + own, virtual, virtual + " " + own, virtual, own},
		"member/at_its_only_virtual_address":      {offered: virtual, inUse: virtual, chosen: virtual},
		"member/at_a_lost_virtual_address":        {own, virtual, own, own, ""},
	} {
		chosen, better := juju.Network{Subnets: known}.Choose(addresses(strings.Fields(tt.offered)...),
			addresses(strings.Fields(tt.inUse)...), addresses(strings.Fields(tt.machine)...))
		assert.Equal(t, cmp.Or(tt.chosen, none), chosen.String(), name)
		assert.Equal(t, cmp.Or(tt.better, none), better.String(), name)
	}
}
