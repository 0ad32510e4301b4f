package firewall

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// The texts are those of ufw 0.36.2 of Debian 12.
func TestStatusOfUfwIsRead(t *testing.T) {
	t.Parallel()
	net := prefixes("10.0.0.0/24", "10.0.0.1/32", "0.0.0.0/0", "fd00::1/128", "2001:db8:1111:2222:3333:4444:5555:6666/128", "::/0", "10.0.0.7/32")
	wanted := []rule{
		{action: allow, ports: []uint16{6641, 6643}, from: net[0], ours: true},
		{action: allow, ports: []uint16{6641}, from: net[1], ours: true},
		{action: reject, ports: []uint16{6641}, from: net[2], ours: true},
		{action: reject, ports: []uint16{6643}, from: net[2], ours: true},
		{action: deny, ports: []uint16{7000}, from: net[2]},
		{action: allow, from: net[1]},
		{action: allow, ports: []uint16{6641, 6643, 6644, 16642}, from: net[4], ours: true},
		{action: allow, ports: []uint16{6643}, from: net[3], ours: true},
		// The charm's comment, but not in the charm's form: a person has written them.
		{action: allow, ports: []uint16{6643}, from: net[2]},
		{action: allow, from: net[6]},
		{action: reject, ports: []uint16{6641}, from: net[5], ours: true},
		{action: reject, ports: []uint16{6643}, from: net[5], ours: true},
		{action: deny, ports: []uint16{7000}, from: net[5]},
	}
	text, err := os.ReadFile(filepath.Join("testdata", "status-mixed.txt"))
	require.NoError(t, err)
	active, rules := parseStatus(string(text))
	assert.True(t, active)
	assert.Equal(t, wanted, rules)
}

func TestStatusWithoutRules(t *testing.T) {
	t.Parallel()
	for text, wanted := range map[string]bool{"Status: active\n": true, "Status: inactive\n": false, "": false} {
		active, rules := parseStatus(text)
		assert.Equal(t, wanted, active, text)
		assert.Empty(t, rules)
	}
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
		// What is planned for them is all that is needed.
		want := Rules{Peers: []netip.Addr{netip.MustParseAddr("10.0.0.1")}}
		p := compare(rules, want)
		for _, r := range append(p.misplaced, p.stale...) {
			require.True(t, r.ours, "a rule of others is touched")
		}
	})
}
