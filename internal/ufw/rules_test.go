package ufw

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The texts are those of ufw 0.36.2 of Debian 12.
func TestParseStatus(t *testing.T) {
	t.Parallel()
	of := func(action action, ours bool, from string, ports ...uint16) rule {
		return rule{action: action, ports: ports, from: netip.MustParsePrefix(from), ours: ours}
	}
	wanted := []rule{
		of(allow, true, "10.0.0.0/24", 6641, 6643), of(allow, true, "10.0.0.1/32", 6641), of(reject, true, "0.0.0.0/0", 6641),
		of(reject, true, "0.0.0.0/0", 6643), of(deny, false, "0.0.0.0/0", 7000), of(allow, false, "10.0.0.1/32"),
		of(allow, true, "2001:db8:1111:2222:3333:4444:5555:6666/128", 6641, 6643, 6644, 16642),
		of(allow, true, "fd00::1/128", 6643),
		// These rules have the charm's comment, but not its form: a person has written them.
		of(allow, false, "0.0.0.0/0", 6643), of(allow, false, "10.0.0.7/32"),
		of(reject, true, "::/0", 6641), of(reject, true, "::/0", 6643), of(deny, false, "::/0", 7000),
	}
	text, err := os.ReadFile(filepath.Join("testdata", "status-mixed.txt"))
	require.NoError(t, err)
	active, rules := parseStatus(string(text))
	assert.True(t, active)
	assert.Equal(t, wanted, rules)
}

func FuzzStatus(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "status-mixed.txt"))
	require.NoError(f, err)
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		_, rules := parseStatus(text)
		for _, r := range rules {
			require.True(t, r.from.IsValid())
			require.NotEmpty(t, r.words())
		}
		p := compare(rules, Rules{Peers: []netip.Addr{netip.MustParseAddr("10.0.0.1")}})
		for _, r := range append(p.misplaced, p.stale...) {
			require.True(t, r.ours, "a rule of others would be deleted")
		}
	})
}

// If a rule makes a rule of the charm after it void, the charm's rule is deleted and put in front. Another party's
// stays.
func TestCompare_misplaced_rule_of_charm_is_deleted(t *testing.T) {
	t.Parallel()
	client := netip.MustParseAddr("10.0.0.9")
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

// ufw refuses an address with a zone, and would treat 10.0.0.2 and ::ffff:10.0.0.2 as two addresses.
func TestGrants_have_the_address_without_zone_and_mapping(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"::ffff:10.0.0.2": "10.0.0.2", "fe80::2%eth0": "fe80::2"} {
		for _, g := range (Rules{Clients: []netip.Addr{netip.MustParseAddr(given)}}).grants() {
			assert.Equal(t, netip.MustParseAddr(want), g.from)
		}
	}
}
