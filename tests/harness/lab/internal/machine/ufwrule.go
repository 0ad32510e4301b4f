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

// parseRule reads a rule: `allow 6641/tcp`, or `allow [proto P] [from A [port P]]
// [to A [port P]]`, either with `comment C`. families says for which of
// IPv4 (false) and IPv6 (true) it is.
func parseRule(words []string) (r rule, families []bool, err error) {
	if len(words) < 2 || !slices.Contains([]string{"allow", "deny", "reject", "limit"}, words[0]) {
		return r, nil, errSyntax
	}
	r.Action, words = words[0], words[1:]
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

// status is the list of rules with their numbers, in ufw's columns.
func (f *firewall) status(args []string) (string, error) {
	switch {
	case !slices.Equal(args, []string{"numbered"}):
		return "", errSyntax
	case !f.Enabled:
		return "Status: inactive\n", nil
	case len(f.V4)+len(f.V6) == 0:
		return "Status: active\n", nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Status: active\n\n     %-26s %-11s From\n     %-26s %-11s ----\n", "To", "Action", "--", "------")
	for i, r := range slices.Concat(f.V4, f.V6) {
		fmt.Fprintf(&out, "[%2d] %s\n", i+1, r.line(i >= len(f.V4)))
	}
	return out.String() + "\n", nil
}

// line is a rule as status shows it.
func (r rule) line(six bool) string {
	proto := ""
	if r.Proto != "" {
		proto = "/" + r.Proto
	}
	mark := suffix(six && r.To == "" && r.From == "")
	line := fmt.Sprintf("%-26s %-12s%-26s", side(r.To, r.Port, proto, mark), strings.ToUpper(r.Action)+" IN", side(r.From, r.FromPort, proto, mark))
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
