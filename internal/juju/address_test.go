package juju_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

func TestChooseAddress(t *testing.T) {
	t.Parallel()
	const own, virtual, other, moved = "10.0.0.1", "10.0.0.5", "10.0.0.9", "10.9.0.1"
	known := subnets(own, "10.0.0.0/24", virtual, "10.0.0.5/32", other, "10.0.0.0/24", "2001:db8::1", "2001:db8::/64", "2001:db8::5", "2001:db8::5/128")
	tests := map[string]struct {
		offered, inUse, machine []netip.Addr
		chosen, better          string
	}{
		"new_unit/first":                            {offered: addresses(own, other), chosen: own},
		"new_unit/virtual_address_first":            {offered: addresses(virtual, own), chosen: own},
		"new_unit/virtual_address_of_IPv6_first":    {offered: addresses("2001:db8::5", "2001:db8::1"), chosen: "2001:db8::1"},
		"new_unit/nothing_but_a_virtual_address":    {offered: addresses(virtual), chosen: virtual},
		"new_unit/unknown_subnet_before_a_known":    {offered: addresses("10.0.0.7", own), chosen: own},
		"new_unit/unknown_subnet_after_a_virtual":   {offered: addresses(virtual, "10.0.0.7"), chosen: "10.0.0.7"},
		"new_unit/family_of_the_first":              {offered: addresses(virtual, "2001:db8::1", own), chosen: own},
		"new_unit/other_family_before_a_virtual":    {offered: addresses(virtual, "2001:db8::1"), chosen: "2001:db8::1"},
		"new_unit/nothing":                          {machine: addresses(own)},
		"member/virtual_address_first":              {offered: addresses(virtual, own), inUse: addresses(own), chosen: own},
		"member/other_address_first":                {offered: addresses(other, own), inUse: addresses(own), chosen: own},
		"member/in_another_space_now":               {offered: addresses(moved), inUse: addresses(own), machine: addresses(own, moved), chosen: own, better: moved},
		"member/nothing_offered":                    {inUse: addresses(own), machine: addresses(own), chosen: own},
		"member/machine_unknown":                    {offered: addresses(other, own), inUse: addresses(own), chosen: own},
		"member/address_gone":                       {offered: addresses(virtual, other), inUse: addresses(own), machine: addresses(virtual, other), chosen: other},
		"member/address_gone_of_one_database":       {offered: addresses(other), inUse: addresses(own, other), machine: addresses(other), chosen: other},
		"member/at_a_virtual_address":               {offered: addresses(virtual, own), inUse: addresses(virtual), machine: addresses(virtual, own), chosen: virtual, better: own},
		"member/at_the_only_address_a_virtual_one":  {offered: addresses(virtual), inUse: addresses(virtual), chosen: virtual},
		"member/at_a_virtual_address_that_has_gone": {offered: addresses(own), inUse: addresses(virtual), machine: addresses(own), chosen: own},
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
