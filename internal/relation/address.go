package relation

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// AddressError is a published value that is not an address at which a unit can be reached.
type AddressError struct {
	// Value is the published value.
	Value string
	// Reason is why it is refused.
	Reason string
}

// Error quotes at most 60 characters of the value.
func (e *AddressError) Error() string {
	return fmt.Sprintf("%.60q is no address: %s", e.Value, e.Reason)
}

// FormatAddress formats an address for the relations: a JSON string, including its quotes, with IPv6 in brackets.
// Readers without JSON strip the quotes themselves (charm-lxd does). The zero address is empty, which makes Juju delete
// the key. A zone is omitted, since it has a meaning on one machine only.
//
// Source: charms.reactive's Endpoint encodes all published values so; the
// brackets are those of _format_addr in interface-ovsdb (src/lib/ovsdb.py).
func FormatAddress(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	if a = a.Unmap().WithZone(""); a.Is6() {
		return `"[` + a.String() + `]"`
	}
	return `"` + a.String() + `"`
}

// parseAddress parses the address that any of the charms writes: JSON or raw, IPv6 with or without brackets. Anything
// but the address of one host is an [*AddressError]: a name, an address with a zone, and 0.0.0.0 or ::, which a
// firewall would take for every address.
func parseAddress(s string) (netip.Addr, error) {
	refuse := func(reason string) (netip.Addr, error) {
		return netip.Addr{}, &AddressError{Value: s, Reason: reason}
	}
	text := strings.TrimSpace(s)
	if strings.HasPrefix(text, `"`) {
		var inner string
		if json.Unmarshal([]byte(text), &inner) != nil {
			return refuse("it is no JSON string")
		}
		text = strings.TrimSpace(inner)
	}
	bare, opened := strings.CutPrefix(text, "[")
	bare, closed := strings.CutSuffix(bare, "]")
	a, err := netip.ParseAddr(bare)
	switch a = a.Unmap(); {
	case text == "":
		return refuse("it is empty")
	case err != nil || opened != closed || opened && !strings.Contains(bare, ":"):
		return refuse("it is neither IPv4 nor IPv6")
	case a.Zone() != "":
		return refuse("its zone means nothing on other machines")
	case a.IsUnspecified() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return refuse("it is not of one host")
	}
	return a, nil
}
