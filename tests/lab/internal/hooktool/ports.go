package hooktool

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// portRange is what open-port and close-port are about.
type portRange struct {
	first, last int // -1: icmp
	protocol    string
}

// String is the one spelling that opened-ports has: 80/tcp, 8000-8080/udp, icmp.
func (r portRange) String() string {
	switch {
	case r.protocol == "icmp":
		return "icmp"
	case r.first == r.last:
		return fmt.Sprintf("%d/%s", r.first, r.protocol)
	}
	return fmt.Sprintf("%d-%d/%s", r.first, r.last, r.protocol)
}

func (r portRange) overlaps(other portRange) bool {
	return r.protocol == other.protocol && r.last >= other.first && other.last >= r.first
}

// parseRange reads one as Juju does (core/network/portrange.go).
func parseRange(text string) (portRange, error) {
	ports, protocol, given := strings.Cut(text, "/")
	if !given {
		protocol = "tcp"
	}
	from, to, ranged := strings.Cut(ports, "-")
	var r portRange
	var err error
	switch {
	case strings.Count(ports, "-") > 1:
		return r, fmt.Errorf("invalid port range %q", ports)
	case ports == "icmp":
		r, protocol = portRange{first: -1, last: -1}, "icmp"
	default:
		if r.first, err = strconv.Atoi(from); err != nil {
			return r, fmt.Errorf("invalid port %q: %w", from, err)
		}
		r.last = r.first
		if ranged {
			if r.last, err = strconv.Atoi(to); err != nil {
				return r, fmt.Errorf("invalid port %q: %w", to, err)
			}
		}
	}
	r.protocol = protocol
	return r, r.validate()
}

func (r portRange) validate() error {
	switch {
	case !slices.Contains([]string{"tcp", "udp", "icmp"}, r.protocol):
		return fmt.Errorf("invalid protocol %q, expected \"tcp\", \"udp\", or \"icmp\"", r.protocol)
	case r.protocol == "icmp" && r.first == -1:
		return nil
	case r.protocol == "icmp":
		return fmt.Errorf("protocol \"icmp\" doesn't support any ports; got \"%d\"", r.first)
	case r.first > r.last:
		return fmt.Errorf("invalid port range %s", r)
	case r.first < 0 || r.last > 65535:
		return errBounds{0, r}
	}
	return nil
}

// errBounds is a port that there can't be. Juju 2 also takes 0 for one.
type errBounds struct {
	first int
	got   portRange
}

func (e errBounds) Error() string {
	return fmt.Sprintf("port range bounds must be between %d and 65535, got %d-%d", e.first, e.got.first, e.got.last)
}

// ports are those of a unit, with what the hook has asked for so far.
type ports struct {
	now            []string
	opened, closed []portRange
}

// conflict is the range among known that r overlaps without being it.
func conflict(r portRange, known []portRange) (portRange, bool) {
	for _, other := range known {
		if other != r && other.overlaps(r) {
			return other, true
		}
	}
	return portRange{}, false
}

// after are the unit's ports once the hook has ended well.
func (p *ports) after() []string {
	var all []portRange
	for _, text := range p.now {
		if r, err := parseRange(text); err == nil && !slices.Contains(p.closed, r) {
			all = append(all, r)
		}
	}
	for _, r := range p.opened {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b portRange) int {
		if a.protocol != b.protocol {
			return strings.Compare(a.protocol, b.protocol)
		}
		return a.first - b.first
	})
	texts := make([]string, 0, len(all))
	for _, r := range all {
		texts = append(texts, r.String())
	}
	return texts
}

func (p *ports) existing() (all []portRange) {
	for _, text := range p.now {
		if r, err := parseRange(text); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// askedPort reads the arguments of open-port and close-port.
func askedPort(c *call) (portRange, error) {
	var format, endpoints string
	f := flags{}
	f.text(&format, "format")
	f.text(&endpoints, "endpoints")
	args, err := f.parse(c.request.Args)
	switch {
	case err != nil:
		return portRange{}, usage(err)
	case len(args) == 0:
		return portRange{}, usage(errors.New("no port or range specified"))
	}
	r, err := parseRange(strings.ToLower(args[0]))
	if outside := (errBounds{}); !c.juju.since(3, 0) && (r.first == 0 && r.last < 65536 || errors.As(err, &outside)) {
		err = errBounds{1, r}
	}
	if err == nil {
		err = none(args[1:])
	}
	if err != nil {
		return portRange{}, usage(err)
	}
	if endpoints != "" {
		return portRange{}, errors.New("the lab doesn't play --endpoints")
	}
	c.deprecated(format)
	return r, nil
}

func openPort(c *call) error {
	r, err := askedPort(c)
	if err != nil {
		return err
	}
	p := &c.ports
	p.closed = slices.DeleteFunc(p.closed, func(other portRange) bool { return other == r })
	if other, is := conflict(r, p.opened); is {
		return fmt.Errorf("cannot open %s (unit %q): port range conflicts with %s (unit %q) requested earlier", r, c.Unit, other, c.Unit)
	}
	if other, is := conflict(r, p.existing()); is {
		return fmt.Errorf("cannot open %s (unit %q): port range conflicts with %s (unit %q)", r, c.Unit, other, c.Unit)
	}
	p.opened = append(p.opened, r)
	return nil
}

func closePort(c *call) error {
	r, err := askedPort(c)
	if err != nil {
		return err
	}
	p := &c.ports
	p.opened = slices.DeleteFunc(p.opened, func(other portRange) bool { return other == r })
	if other, is := conflict(r, p.closed); is {
		return fmt.Errorf("cannot close %s (unit %q): port range conflicts with %s (unit %q) requested earlier", r, c.Unit, other, c.Unit)
	}
	if other, is := conflict(r, p.existing()); is {
		return fmt.Errorf("cannot close %s (unit %q): port range conflicts with %s (unit %q)", r, c.Unit, other, c.Unit)
	}
	p.closed = append(p.closed, r)
	return nil
}

// openedPorts lists what is open, with what the hook has asked for.
func openedPorts(c *call) error {
	var out output
	var endpoints bool
	f := flags{}
	f.boolean(&endpoints, "endpoints")
	out.flags(f, "smart", "json", "yaml")
	args, err := f.parse(c.request.Args)
	if err == nil {
		err = none(args)
	}
	if err != nil {
		return usage(err)
	}
	list := c.ports.after()
	if endpoints {
		for i := range list {
			list[i] += " (*)"
		}
	}
	return out.write(c, list)
}
