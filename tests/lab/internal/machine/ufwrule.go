package machine

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// What ufw says of commands that it doesn't take.
var (
	errSyntax      = errors.New("Invalid syntax")          //nolint:staticcheck // ufw's words
	errSource      = errors.New("Bad source address")      //nolint:staticcheck // ufw's words
	errDestination = errors.New("Bad destination address") //nolint:staticcheck // ufw's words
)

// parseRule reads a rule: `allow 6641/tcp`, or `allow [in|out] [proto P] [from A
// [port P]] [to A [port P]]`, either with `comment C`. families says for which of
// IPv4 (false) and IPv6 (true) it is.
func parseRule(words []string) (r rule, families []bool, err error) {
	if len(words) < 2 || !slices.Contains([]string{"allow", "deny", "reject", "limit"}, words[0]) {
		return r, nil, errSyntax
	}
	r.Action, r.Direction, words = words[0], "in", words[1:]
	if words[0] == "in" || words[0] == "out" {
		r.Direction, words = words[0], words[1:]
	}
	families = []bool{false, true}
	port := &r.Port
	for len(words) > 0 {
		key := words[0]
		if len(words) == 1 || !slices.Contains([]string{"from", "to", "port", "proto", "comment"}, key) {
			if strings.Trim(key, "0123456789,:/tcpud") != "" {
				return r, nil, errSyntax
			}
			r.Port, r.Proto, _ = strings.Cut(key, "/")
			words = words[1:]
			continue
		}
		value := words[1]
		words = words[2:]
		switch key {
		case "from":
			port = &r.FromPort
			r.From, families, err = family(value, families, errSource)
		case "to":
			port = &r.Port
			r.To, families, err = family(value, families, errDestination)
		case "port":
			*port = value
		case "proto":
			r.Proto = value
		case "comment":
			r.Comment = value
		}
		if err != nil {
			return r, nil, err
		}
	}
	return r, families, nil
}

// family narrows the families to that of an address or network; any has both.
func family(value string, families []bool, bad error) (string, []bool, error) {
	if value == "any" {
		return "", families, nil
	}
	prefix, err := netip.ParsePrefix(value)
	if err != nil {
		a, err := netip.ParseAddr(value)
		if err != nil {
			return "", nil, bad
		}
		prefix = netip.PrefixFrom(a, a.BitLen())
	}
	return value, []bool{prefix.Addr().Is6()}, nil
}

// status is the list of rules, in ufw's columns.
func (f *firewall) status(how string) (string, error) {
	if !slices.Contains([]string{"", "verbose", "numbered"}, how) {
		return "", errSyntax
	}
	if !f.Enabled {
		return "Status: inactive\n", nil
	}
	var out strings.Builder
	out.WriteString("Status: active\n")
	if how == "verbose" {
		routed := f.Policies["routed"]
		if routed == "deny" || routed == "allow" { // the kernel doesn't forward
			routed = "disabled"
		}
		fmt.Fprintf(&out, "Logging: on (low)\nDefault: %s (incoming), %s (outgoing), %s (routed)\nNew profiles: skip\n",
			f.Policies["incoming"], f.Policies["outgoing"], routed)
	}
	if len(f.V4)+len(f.V6) == 0 {
		return out.String(), nil
	}
	indent := ""
	if how == "numbered" {
		indent = "     "
	}
	for _, row := range [][3]string{{"\n" + indent + "To", "Action", "From"}, {indent + "--", "------", "----"}} {
		fmt.Fprintf(&out, "%-*s %-11s %s\n", len(indent)+26+strings.Count(row[0], "\n"), row[0], row[1], row[2])
	}
	if how == "numbered" {
		for i, r := range slices.Concat(f.V4, f.V6) {
			fmt.Fprintf(&out, "[%2d] %s\n", i+1, r.line(i >= len(f.V4), how))
		}
		return out.String() + "\n", nil
	}
	for _, direction := range []string{"in", "out"} {
		found := false
		for i, r := range slices.Concat(f.V4, f.V6) {
			if r.Direction == direction {
				found = true
				out.WriteString(r.line(i >= len(f.V4), how) + "\n")
			}
		}
		if found {
			out.WriteString("\n")
		}
	}
	return out.String(), nil
}

// line is a rule as status, numbered or not, shows it.
func (r rule) line(six bool, how string) string {
	action := strings.ToUpper(r.Action)
	if how != "" || r.Direction == "out" {
		action += " " + strings.ToUpper(r.Direction)
	}
	proto := ""
	if r.Proto != "" {
		proto = "/" + r.Proto
	}
	mark := suffix(six && r.To == "" && r.From == "")
	line := fmt.Sprintf("%-26s %-12s%-26s", side(r.To, r.Port, proto, mark), action, side(r.From, r.FromPort, proto, mark))
	if r.Direction == "out" && how == "numbered" {
		line += " (out)"
	}
	if r.Comment != "" {
		line += " # " + r.Comment
	}
	return line
}

func side(address, port, proto, mark string) string {
	switch {
	case port == "" && address == "":
		return "Anywhere" + mark
	case port == "":
		return address
	case address == "":
		return port + proto + mark
	}
	return address + " " + port + proto
}
