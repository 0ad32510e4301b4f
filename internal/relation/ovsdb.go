package relation

import (
	"fmt"
	"net/netip"
)

// Names of the endpoints, besides [Peer]. Source: metadata.yaml of the previous charm.
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

// Endpoints are all endpoints of the charm.
func Endpoints() []string {
	return []string{Peer, Certificates, OVSDB, CMS, Server, NRPE, Metrics, COSAgent}
}

const (
	keyBoundAddress = "bound-address"
	keyCMSClient    = "cms-client-bound-address"
)

// BoundAddress is what a unit publishes on [OVSDB] and [CMS], and on [Peer] for other charms: the address of its
// databases. Clients add protocol and port themselves. The zero address removes the key, so that no client tries it.
func BoundAddress(a netip.Addr) map[string]string {
	return map[string]string{keyBoundAddress: FormatAddress(a)}
}

// addressOf parses the address under a key; found is false if there is none. An error wraps an [*AddressError].
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

// ClientAddress returns the address from which a unit on [CMS] connects; the firewall admits it. That is the address
// that the unit publishes, otherwise the one at which Juju reaches it. Only the charms of LXD and Incus publish one,
// raw, LXD's with brackets. If it is malformed, err wraps an [*AddressError], and Juju's is returned.
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
