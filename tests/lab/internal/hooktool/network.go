package hooktool

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

func unitGet(c *call) error {
	var out output
	key, err := read(c, &out, flags{})
	switch {
	case err != nil:
		return err
	case key == "":
		return usage(errors.New("no setting specified"))
	case key != "private-address" && key != "public-address":
		return usage(fmt.Errorf("unknown setting %q", key))
	}
	return out.write(c, c.addresses("")[0])
}

// The shapes of network-get's whole answer.
type (
	networkInfo struct {
		BindAddresses    []bindAddress `json:"bind-addresses" yaml:"bind-addresses"`
		EgressSubnets    []string      `json:"egress-subnets" yaml:"egress-subnets"`
		IngressAddresses []string      `json:"ingress-addresses" yaml:"ingress-addresses"`
	}
	bindAddress struct {
		MAC       string           `json:"mac-address" yaml:"mac-address"`
		Interface string           `json:"interface-name" yaml:"interface-name"`
		Addresses []networkAddress `json:"addresses" yaml:"addresses"`
		// Juju repeats two keys in YAML in an older spelling.
		OldMAC       string `json:"-" yaml:"macaddress"`
		OldInterface string `json:"-" yaml:"interfacename"`
	}
	networkAddress struct {
		Hostname string `json:"hostname" yaml:"hostname"`
		Value    string `json:"value" yaml:"value"`
		CIDR     string `json:"cidr" yaml:"cidr"`
		Old      string `json:"-" yaml:"address"`
	}
)

func networkGet(c *call) error {
	var out output
	var r *relation
	var primary, bind, ingress, egress bool
	f := flags{}
	c.relationFlag(f, &r)
	f.boolean(&primary, "primary-address")
	f.boolean(&bind, "bind-address")
	f.boolean(&ingress, "ingress-address")
	f.boolean(&egress, "egress-subnets")
	out.flags(f, "smart", "json", "yaml")
	args, err := f.parse(c.request.Args)
	switch {
	case err != nil:
		return usage(err)
	case len(args) == 0:
		return usage(errors.New("no arguments specified"))
	case args[0] == "":
		return usage(errors.New("no binding name specified"))
	case len(args) > 1:
		return usage(none(args[1:]))
	case args[0] != "juju-info" && !slices.Contains(c.Charm.Bindings, args[0]):
		return fmt.Errorf("no network config found for binding %q", args[0])
	case primary && (bind || ingress || egress):
		return errors.New("--primary-address must be the only flag specified")
	}
	addresses := c.addresses(args[0])
	subnets := model.Subnets(addresses)
	if primary {
		return out.write(c, addresses[0])
	}
	values := map[string]any{}
	if bind {
		values["bind-address"] = addresses[0]
	}
	if ingress {
		values["ingress-address"] = addresses[0]
	}
	if egress {
		values["egress-subnets"] = subnets
	}
	switch len(values) {
	case 0:
		return out.write(c, networkInfo{BindAddresses: c.interfaces(addresses), EgressSubnets: subnets, IngressAddresses: addresses})
	case 1:
		for _, only := range values {
			return out.write(c, only)
		}
	}
	return out.write(c, values)
}

func (c *call) addresses(binding string) (addresses []string) {
	c.Model.Do(func(s *model.State) { addresses = s.Units[c.Unit].AddressesOf(binding) })
	return addresses
}

// interfaces groups addresses by the device that the lab's machines have them on.
func (c *call) interfaces(addresses []string) []bindAddress {
	var devices []bindAddress
	for _, address := range addresses {
		name, cidr := device(address)
		i := slices.IndexFunc(devices, func(b bindAddress) bool { return b.Interface == name })
		if i < 0 {
			devices = append(devices, bindAddress{Interface: name, OldInterface: name})
			i = len(devices) - 1
		}
		devices[i].Addresses = append(devices[i].Addresses, networkAddress{Value: address, CIDR: cidr, Old: address})
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
