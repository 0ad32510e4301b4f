package relation

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// The names of the endpoints, besides [Peer]. Source: metadata.yaml of the previous charm.
const (
	// OVSDB is for chassis: the Southbound database, with RBAC.
	OVSDB = "ovsdb"
	// CMS is for cloud management systems: both databases, without RBAC.
	CMS = "ovsdb-cms"
	// Server is for the members of another cluster; it has no data.
	Server = "ovsdb-server"
	// Certificates is for vault, easyrsa and compatible providers.
	Certificates = "certificates"
	// Metrics is for Prometheus.
	Metrics = "metrics-endpoint"
	// NRPE is for Nagios' subordinate.
	NRPE = "nrpe-external-master"
	// COSAgent is for the agent of the observability stack.
	COSAgent = "cos-agent"
)

// Endpoints returns all endpoints of the charm.
func Endpoints() []string {
	return []string{Peer, Certificates, OVSDB, CMS, Server, NRPE, Metrics, COSAgent}
}

const (
	keyBoundAddress = "bound-address"
	keyCMSClient    = "cms-client-bound-address"
)

// BoundAddress returns what a unit publishes on [OVSDB] and [CMS], and on [Peer] for other charms: the address of its
// databases. Clients add protocol and port themselves. For the zero address the value is empty, which removes the
// key, so that no client tries it.
func BoundAddress(a netip.Addr) map[string]string {
	return map[string]string{keyBoundAddress: FormatAddress(a)}
}

// addressOf parses the address under a key; found is false if there is none.
func addressOf(databag map[string]string, key string) (netip.Addr, bool, error) {
	value := databag[key]
	if value == "" {
		return netip.Addr{}, false, nil
	}
	a, err := parseAddress(value)
	if err != nil {
		return netip.Addr{}, false, fmt.Errorf("cannot read %s: %w", key, err)
	}
	return a, true, nil
}

// Keys that Juju itself sets in a unit's data (EnterScope in state/relationunit.go of juju).
const (
	keyIngress = "ingress-address"
	keyPrivate = "private-address"
)

// ClientAddress returns the address from which a unit on [CMS] connects, for the firewall to admit. That is the
// address that the unit publishes, otherwise the one at which Juju reaches it. Only the charms of LXD and Incus
// publish one, and without JSON, LXD's with brackets. If the published address is malformed, err is set, and the result
// is Juju's.
func ClientAddress(databag map[string]string) (a netip.Addr, found bool, err error) {
	if a, found, err = addressOf(databag, keyCMSClient); found {
		return a, true, nil
	}
	for _, key := range []string{keyIngress, keyPrivate} {
		if a, found, other := addressOf(databag, key); other == nil && found {
			return a, true, err
		}
	}
	return netip.Addr{}, false, err
}

// FormatAddress formats an address for the relations: a JSON string, including its quotes, with IPv6 in brackets.
// Readers without JSON strip the quotes themselves (charm-lxd does). The zero address gives an empty text, which makes
// Juju delete the key. A zone is omitted, since it only has a meaning on its own machine.
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

// parseAddress parses an address as any of the charms writes it: JSON or raw, IPv6 with or without brackets. It
// accepts only the address of one host. A name, an address with a zone, and 0.0.0.0 or ::, which a firewall would
// take for every address, are errors.
func parseAddress(s string) (netip.Addr, error) {
	refuse := func(reason string) (netip.Addr, error) {
		return netip.Addr{}, fmt.Errorf("%.60q is no address: %s", s, reason)
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
