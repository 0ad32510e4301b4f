package relation

import (
	"fmt"
	"net/netip"
)

// Names of the endpoints, besides [Peer]. Source: metadata.yaml of the charm that
// this one replaces.
const (
	// OVSDB is for chassis: the Southbound database, with RBAC.
	OVSDB = "ovsdb"
	// CMS is for cloud management systems: both databases, without RBAC.
	CMS = "ovsdb-cms"
	// Server is for the members of another cluster; nothing is on it.
	Server = "ovsdb-server"
	// Certificates is for vault, easyrsa and what speaks as they do.
	Certificates = "certificates"
	// Metrics is for Prometheus.
	Metrics = "metrics-endpoint"
	// NRPE is for Nagios' subordinate.
	NRPE = "nrpe-external-master"
	// COSAgent is for the agent of the observability stack.
	COSAgent = "cos-agent"
)

const (
	keyBoundAddress = "bound-address"
	keyCMSClient    = "cms-client-bound-address"
)

// BoundAddress is what a unit publishes on [OVSDB] and [CMS], and to charms that
// read it on [Peer]: where its databases are. Clients add protocol and port
// themselves. The zero address takes the key away, so that no client tries.
func BoundAddress(a netip.Addr) map[string]string {
	return map[string]string{keyBoundAddress: FormatAddress(a)}
}

// parseBoundAddress reads what a unit, of this charm or the one before it, has
// published as [BoundAddress]. found is false where it has published nothing.
// An error wraps an [*AddressError].
func parseBoundAddress(databag map[string]string) (a netip.Addr, found bool, err error) {
	return addressOf(databag, keyBoundAddress)
}

// cmsClient reads, on [CMS], the address from which the unit of a client
// connects; the firewall lets it in. found is false where there is none, which is
// what most charms do: only LXD's and Incus' publish it, raw, LXD's with brackets.
// An error wraps an [*AddressError].
func cmsClient(databag map[string]string) (a netip.Addr, found bool, err error) {
	return addressOf(databag, keyCMSClient)
}

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
