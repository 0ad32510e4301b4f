package ufw

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

type action string

const (
	allow  action = "allow"
	reject action = "reject"
	deny   action = "deny"
)

// The values for a rule without an address, by family.
var (
	anywhere4 = netip.MustParsePrefix("0.0.0.0/0")
	anywhere6 = netip.MustParsePrefix("::/0")
)

// rule is an ufw rule for incoming TCP connections to any address of the machine.
type rule struct {
	action action
	// ports is nil if the rule is for all ports.
	ports []uint16
	from  netip.Prefix
	// ours reports whether the rule has our comment.
	ours bool
}

func (r rule) matches(g grant) bool {
	return (r.ports == nil || slices.Contains(r.ports, g.port)) && r.from.Contains(g.from)
}

// forAny reports whether the rule applies to all addresses of a family.
func (r rule) forAny() bool { return r.from.Bits() == 0 }

// numbered is a line of `ufw status numbered`: number, to, action, from, comment.
var numbered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[ *\d+\] (.+?) +(ALLOW|DENY|REJECT) IN +(.+?)(?: +# (.*))?$`)
})

// parseStatus parses the output of `ufw status numbered` (ufw/backend_iptables.py) and returns the rules in their order
// of evaluation. It omits rules for another direction, protocol, interface or address of this machine, which the charm
// neither writes nor needs to know.
func parseStatus(text string) (active bool, rules []rule) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		active = active || line == "Status: active"
		fields := numbered().FindStringSubmatch(line)
		if fields == nil {
			continue
		}
		ports, ok := parsePorts(fields[1])
		from, known := parseFrom(fields[3])
		if !ok || !known {
			continue
		}
		rules = append(rules, rule{
			action: action(strings.ToLower(fields[2])), ports: ports, from: from,
			ours: fields[4] == Comment && strings.Contains(fields[1], "/tcp"),
		})
	}
	return active, rules
}

// parsePorts parses `6641/tcp`, `6641,6643/tcp (v6)`, `6641` or `Anywhere`.
func parsePorts(to string) (ports []uint16, ok bool) {
	to = strings.TrimSuffix(to, " (v6)")
	if to == "Anywhere" {
		return nil, true
	}
	for text := range strings.SplitSeq(strings.TrimSuffix(to, "/tcp"), ",") {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, false
		}
		ports = append(ports, uint16(port))
	}
	return ports, true
}

// parseFrom parses `Anywhere`, `Anywhere (v6)`, an address or a network.
func parseFrom(text string) (from netip.Prefix, ok bool) {
	switch text {
	case "Anywhere":
		return anywhere4, true
	case "Anywhere (v6)":
		return anywhere6, true
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	from, err := netip.ParsePrefix(text)
	return from, err == nil
}
