package relation

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// AddressError says that what a unit has published is no address that it could
// be reached at.
type AddressError struct {
	// Value is what was published, as it stands on the relation.
	Value string
	// Reason is why it isn't taken.
	Reason string
}

// Error quotes at most 60 characters of the value.
func (e *AddressError) Error() string {
	return fmt.Sprintf("%.60q is no address: %s", e.Value, e.Reason)
}

// FormatAddress is the address as it stands on the relations: a JSON string, its
// quotes included, with IPv6 in brackets. Readers that know nothing of JSON strip
// the quotes themselves (charm-lxd does). The zero address is empty, by which
// Juju deletes the key. A zone means something on one machine only and is left
// out.
//
// Source: charms.reactive's Endpoint encodes all that is published so; the
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

// parseAddress reads what any of the charms writes: JSON or raw, IPv6 with
// brackets or without. Anything that isn't the address of one host is an
// [*AddressError]: no name, no zone, and not 0.0.0.0 or ::, which a firewall
// would take for every address.
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
