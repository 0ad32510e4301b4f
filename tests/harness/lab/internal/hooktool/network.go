package hooktool

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// The forms of network-get's answer.
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
	eth0 := bindAddress{Interface: "eth0"} // as the lab's machines have it
	ingress := []string{}
	for _, address := range addresses {
		ingress = append(ingress, model.Bare(address))
		eth0.Addresses = append(eth0.Addresses, networkAddress{Value: model.Bare(address), CIDR: networkOf(address)})
	}
	return c.print(networkInfo{
		BindAddresses: []bindAddress{eth0}, EgressSubnets: model.Subnets(addresses), IngressAddresses: ingress,
	})
}

// networkOf returns the network of an address: the lab's, unless the address is written with another.
func networkOf(address string) string {
	if own, err := netip.ParsePrefix(address); err == nil {
		return own.Masked().String()
	}
	ip := netip.MustParseAddr(address)
	bits := 24
	if ip.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(ip, bits).Masked().String()
}

// ports has a unit's ports and the hook's changes. Each change is for one port with its protocol, as the charm names
// them.
type ports struct {
	now            []string
	opened, closed []string
}

// after returns the unit's ports after a successful hook.
func (p *ports) after() []string {
	all := slices.Concat(p.now, p.opened)
	all = slices.DeleteFunc(all, func(port string) bool { return slices.Contains(p.closed, port) })
	slices.Sort(all)
	return slices.Compact(all)
}

func openPort(c *call) error  { return movePort(c, &c.ports.opened, &c.ports.closed) }
func closePort(c *call) error { return movePort(c, &c.ports.closed, &c.ports.opened) }

func movePort(c *call, to, from *[]string) error {
	args, err := newOptions().parse(c, 1)
	if err != nil {
		return err
	}
	*to = append(*to, args[0])
	*from = slices.DeleteFunc(*from, func(port string) bool { return port == args[0] })
	return nil
}
