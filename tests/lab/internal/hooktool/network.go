package hooktool

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// The shapes of network-get's answer.
type (
	networkInfo struct {
		BindAddresses    []bindAddress `json:"bind-addresses"`
		EgressSubnets    []string      `json:"egress-subnets"`
		IngressAddresses []string      `json:"ingress-addresses"`
	}
	bindAddress struct {
		MAC       string           `json:"mac-address"`
		Interface string           `json:"interface-name"`
		Addresses []networkAddress `json:"addresses"`
	}
	networkAddress struct {
		Hostname string `json:"hostname"`
		Value    string `json:"value"`
		CIDR     string `json:"cidr"`
	}
)

func networkGet(c *call) error {
	o := newOptions().prints().relates()
	args, err := o.parse(c, 1)
	if err == nil && o.relation != "" {
		_, err = o.chosen(c)
	}
	switch {
	case err != nil:
		return err
	case !slices.Contains(c.Charm.Bindings, args[0]):
		return fmt.Errorf("no network config found for binding %q", args[0])
	}
	var addresses []string
	c.Model.Do(func(s *model.State) { addresses = s.Units[c.Unit].AddressesOf(args[0]) })
	return c.print(networkInfo{
		BindAddresses: interfaces(addresses), EgressSubnets: model.Subnets(addresses), IngressAddresses: addresses,
	})
}

// interfaces groups addresses by the device that the lab's machines have them on.
func interfaces(addresses []string) []bindAddress {
	var devices []bindAddress
	for _, address := range addresses {
		name, cidr := device(address)
		i := slices.IndexFunc(devices, func(b bindAddress) bool { return b.Interface == name })
		if i < 0 {
			devices = append(devices, bindAddress{Interface: name})
			i = len(devices) - 1
		}
		devices[i].Addresses = append(devices[i].Addresses, networkAddress{Value: address, CIDR: cidr})
	}
	return devices
}

// device is where a machine of the lab has an address, and its network.
func device(address string) (name, cidr string) {
	ip, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return "eth0", ""
	case ip.IsLoopback():
		return "lo", "127.0.0.0/8"
	case ip.Is4():
		return "eth0", netip.PrefixFrom(ip, 24).Masked().String()
	}
	return "eth0", netip.PrefixFrom(ip, 64).Masked().String()
}
