package relation

import "net/netip"

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
