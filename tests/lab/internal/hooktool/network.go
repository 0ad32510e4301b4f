package hooktool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	return out.write(c, c.address)
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
	binding, err := read(c, &out, f)
	switch {
	case err != nil:
		return err
	case binding == "":
		return usage(errors.New("no arguments specified"))
	case binding != "juju-info" && !slices.Contains(c.Charm.Bindings, binding):
		return fmt.Errorf("binding name %q not defined by the unit's charm", binding)
	case primary && (bind || ingress || egress):
		return errors.New("--primary-address must be the only flag specified")
	}
	subnets := []string{c.address + "/32"}
	values := map[string]any{}
	if primary {
		return out.write(c, c.address)
	}
	if bind {
		values["bind-address"] = c.address
	}
	if ingress {
		values["ingress-address"] = c.address
	}
	if egress {
		values["egress-subnets"] = subnets
	}
	switch len(values) {
	case 0:
		return out.write(c, networkInfo{
			BindAddresses: []bindAddress{{
				Interface: "lo", OldInterface: "lo",
				Addresses: []networkAddress{{Value: c.address, CIDR: "127.0.0.0/8", Old: c.address}},
			}},
			EgressSubnets: subnets, IngressAddresses: []string{c.address},
		})
	case 1:
		for _, only := range values {
			return out.write(c, only)
		}
	}
	return out.write(c, values)
}

// portForm is one port or a range, with its protocol; or icmp.
var portForm = regexp.MustCompile(`^(?:icmp|(\d+)(?:-(\d+))?(?:/(tcp|udp))?)$`)

// parsePort gives a port range its one spelling: 80/tcp, 8000-8080/udp, icmp.
func parsePort(c *call) (string, error) {
	var format, endpoints string
	f := flags{}
	f.text(&format, "format")
	f.text(&endpoints, "endpoints")
	args, err := f.parse(c.request.Args)
	switch {
	case err != nil:
		return "", err
	case len(args) == 0:
		return "", errors.New("no port or range specified")
	case len(args) > 1:
		return "", none(args[1:])
	}
	part := portForm.FindStringSubmatch(strings.ToLower(args[0]))
	if part == nil {
		return "", fmt.Errorf("invalid port range %q", args[0])
	}
	if part[1] == "" {
		return "icmp", nil
	}
	first, _ := strconv.Atoi(part[1])
	last := first
	if part[2] != "" {
		last, _ = strconv.Atoi(part[2])
	}
	if first < 1 || last < first || last > 65535 {
		return "", fmt.Errorf("invalid port range %d-%d", first, last)
	}
	protocol := part[3]
	if protocol == "" {
		protocol = "tcp"
	}
	if first == last {
		return fmt.Sprintf("%d/%s", first, protocol), nil
	}
	return fmt.Sprintf("%d-%d/%s", first, last, protocol), nil
}

func openPort(c *call) error {
	port, err := parsePort(c)
	if err != nil {
		return usage(err)
	}
	c.closePorts = slices.DeleteFunc(c.closePorts, func(p string) bool { return p == port })
	c.openPorts = append(c.openPorts, port)
	return nil
}

func closePort(c *call) error {
	port, err := parsePort(c)
	if err != nil {
		return usage(err)
	}
	c.openPorts = slices.DeleteFunc(c.openPorts, func(p string) bool { return p == port })
	c.closePorts = append(c.closePorts, port)
	return nil
}

// openedPorts lists what was open when the hook began.
func openedPorts(c *call) error {
	var out output
	var endpoints bool
	f := flags{}
	f.boolean(&endpoints, "endpoints")
	rest, err := read(c, &out, f)
	if err != nil {
		return err
	}
	if rest != "" {
		return usage(none([]string{rest}))
	}
	ports := []string{}
	c.Model.Do(func(s *model.State) { ports = append(ports, s.Units[c.Unit].Ports...) })
	if endpoints {
		for i := range ports {
			ports[i] += " (*)"
		}
	}
	return out.write(c, ports)
}
