package relation

import "net/netip"

// The keys that Juju itself sets in the bag of a unit (EnterScope in
// state/relationunit.go of juju).
const (
	keyIngress = "ingress-address"
	keyPrivate = "private-address"
)

// ClientAddress is where a unit on [CMS] connects from, as far as it is known:
// what it says itself, else the address at which Juju says that it is reached.
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
