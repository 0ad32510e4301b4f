package relation

import "net/netip"

// Keys that Juju itself sets in a unit's data (EnterScope in state/relationunit.go of juju).
const (
	keyIngress = "ingress-address"
	keyPrivate = "private-address"
)

// ClientAddress is the address from which a unit on [CMS] connects, as far as known: the one that it publishes,
// otherwise the one at which Juju reaches it.
func ClientAddress(databag map[string]string) (a netip.Addr, found bool, err error) {
	if a, found, err = cmsClient(databag); found {
		return a, true, nil
	}
	for _, key := range []string{keyIngress, keyPrivate} {
		if a, found, other := addressOf(databag, key); other == nil && found {
			return a, true, err
		}
	}
	return netip.Addr{}, false, err
}
