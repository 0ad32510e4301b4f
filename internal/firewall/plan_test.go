package firewall

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	peer   = netip.MustParseAddr("10.0.0.2")
	client = netip.MustParseAddr("10.0.0.9")
)

// A rule after one that makes it void is deleted and put in front. One of another's
// is not deleted, for whatever it is there.
func TestCompare_misplaced_rule_of_charm_is_deleted(t *testing.T) {
	t.Parallel()
	shut := rule{action: reject, ports: []uint16{6641, 16642}, from: anywhere4}
	late := rule{action: allow, ports: []uint16{6641, 16642}, from: netip.PrefixFrom(client, 32)}
	want := Rules{Clients: []netip.Addr{client}}

	p := compare([]rule{shut, late}, want)
	assert.Len(t, p.admit, 1)
	assert.Empty(t, p.misplaced)
	assert.Empty(t, p.stale)

	late.ours = true
	assert.Equal(t, []rule{late}, compare([]rule{shut, late}, want).misplaced)
}

// What lets one address in does not shut the others out.
func TestPortIsDecidedOnlyByARuleForAllAddresses(t *testing.T) {
	t.Parallel()
	one := rule{action: allow, ports: peerPorts, from: netip.PrefixFrom(peer, 32), ours: true}
	p := compare([]rule{one}, Rules{Peers: []netip.Addr{peer}})
	assert.Empty(t, p.admit)
	assert.Equal(t, peerPorts, p.closed)
	assert.Equal(t, openPorts, p.open)
}

// Ufw refuses an address with a zone, and would take 10.0.0.2 and ::ffff:10.0.0.2 for two.
func TestAddressesAreGrantedInTheFormThatUfwHasThem(t *testing.T) {
	t.Parallel()
	same := func(text string) {
		var from []netip.Addr
		for _, g := range (Rules{Clients: []netip.Addr{netip.MustParseAddr(text)}}).grants() {
			from = append(from, g.from)
		}
		address := netip.MustParseAddr(map[string]string{"::ffff:10.0.0.2": "10.0.0.2", "fe80::2%eth0": "fe80::2"}[text])
		assert.Equal(t, []netip.Addr{address, address}, from, text)
	}
	same("::ffff:10.0.0.2")
	same("fe80::2%eth0")
}
