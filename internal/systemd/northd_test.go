package systemd_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

var credentials = ovndb.Paths{Etc: "/etc/ovn"}.Credentials()

func TestNorthdIsToldOfAllUnits(t *testing.T) {
	t.Parallel()
	got := systemd.NorthdParams{Units: addrs("10.0.0.1", "10.0.0.2", "10.0.0.3"), Credentials: credentials}.Render()
	assert.Equal(t, `--ovnnb-db=ssl:10.0.0.1:6641,ssl:10.0.0.2:6641,ssl:10.0.0.3:6641
--ovnsb-db=ssl:10.0.0.1:16642,ssl:10.0.0.2:16642,ssl:10.0.0.3:16642
-c /etc/ovn/cert_host
-C /etc/ovn/ovn-central.crt
-p /etc/ovn/key_host
`, string(got))
}

func TestNorthdGetsIPv6AddressesInBrackets(t *testing.T) {
	t.Parallel()
	got := systemd.NorthdParams{Units: addrs("fd00::1", "10.0.0.2"), Credentials: credentials}.Render()
	assert.True(t, strings.HasPrefix(string(got), "--ovnnb-db=ssl:[fd00::1]:6641,ssl:10.0.0.2:6641\n--ovnsb-db=ssl:[fd00::1]:16642,"), "%s", got)
}

func TestNorthdIsRestartedForOtherArgumentsOnly(t *testing.T) {
	t.Parallel()
	render := func(units ...string) []byte {
		return systemd.NorthdParams{Units: addrs(units...), Credentials: credentials}.Render()
	}
	old := render("10.0.0.1", "10.0.0.2")
	other := credentials
	other.CA = "/etc/ssl/ca.pem"
	for name, test := range map[string]struct {
		text   []byte
		wanted bool
	}{
		"the same":         {old, false},
		"another order":    {render("10.0.0.2", "10.0.0.1"), false},
		"on one line":      {[]byte(strings.Join(strings.Fields(string(old)), " ")), false},
		"a unit more":      {render("10.0.0.1", "10.0.0.2", "10.0.0.3"), true},
		"a unit less":      {render("10.0.0.1"), true},
		"another CA":       {systemd.NorthdParams{Units: addrs("10.0.0.1", "10.0.0.2"), Credentials: other}.Render(), true},
		"no file there":    {nil, true},
		"an argument more": {append(old[:len(old):len(old)], "--n-threads=4\n"...), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.wanted, systemd.NorthdNeedsRestart(old, test.text))
		})
	}
}
