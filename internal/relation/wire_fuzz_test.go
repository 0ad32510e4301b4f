package relation

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParseAddress shows that an accepted text is one host's address and survives a round trip, and that a refusal is
// short.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{`"10.0.0.1"`, "10.0.0.1", `"[2001:db8::1]"`, "[::1]", "::ffff:1.2.3.4", "fe80::1%eth0", `["10.0.0.1"]`, "null", "\x00", `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parseAddress(s)
		if err != nil {
			var refused *AddressError
			require.ErrorAs(t, err, &refused)
			require.Less(t, len(err.Error()), 700) // quotes 60 characters, of which each can take ten bytes
			return
		}
		require.True(t, a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && a.Zone() == "" && !a.Is4In6(), "%q: %s", s, a)
		again, err := parseAddress(FormatAddress(a))
		require.NoError(t, err)
		require.Equal(t, a, again)
		raw, err := parseAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, a, raw)
		client, found, err := cmsClient(map[string]string{"cms-client-bound-address": s})
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, a, client)
	})
}

// FuzzFormatAddress shows that every possible address of a unit survives a round trip.
func FuzzFormatAddress(f *testing.F) {
	f.Add([]byte{10, 0, 0, 1})
	f.Add([]byte{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		a, ok := netip.AddrFromSlice(bytes)
		if !ok || a.Unmap().IsUnspecified() || a.Unmap().IsMulticast() || a.Unmap() == netip.MustParseAddr("255.255.255.255") {
			return
		}
		got, err := parseAddress(FormatAddress(a))
		require.NoError(t, err)
		require.Equal(t, a.Unmap(), got)
	})
}

// FuzzParseIssued shows that no answer causes a panic, that a found one is complete, and that no error quotes it.
func FuzzParseIssued(f *testing.F) {
	f.Add("CERT", "KEY", "CA", "CHAIN", "")
	f.Add("", "", "CA", "", `{"juju-0.example.com":{"cert":"CERT","key":"KEY"}}`)
	f.Add("", "", "CA", "", `{"juju-0.example.com":{"cert":1}}`)
	f.Add("CERT", "", "", "", "null")
	f.Fuzz(func(t *testing.T, certificate, key, ca, chain, processed string) {
		const unit = "ovn-central_0"
		issued, found, err := ParseIssued(map[string]string{
			"ca": ca, "chain": chain, unit + ".server.cert": certificate, unit + ".server.key": key, unit + ".processed_requests": processed,
		}, request)
		if found {
			require.NoError(t, err)
			require.True(t, issued.Certificate != "" && issued.Key != "" && issued.CA != "")
		} else {
			require.Empty(t, issued.Certificate+issued.Key+issued.CA+issued.Chain)
		}
		if err != nil {
			require.ErrorIs(t, err, ErrAnswer)
			require.Contains(t, []string{
				"the provider's answer can't be read: it has a certificate for ovn-central/0, but no key",
				"the provider's answer can't be read: it has a key for ovn-central/0, but no certificate",
				"the provider's answer can't be read: ovn-central_0.processed_requests is not a JSON object of certificates",
			}, err.Error())
		}
	})
}

// FuzzParseRequest shows that a kept request is written unchanged.
func FuzzParseRequest(f *testing.F) {
	f.Add("juju-0", `["10.0.0.1", "a"]`, "ovn-central_0")
	f.Add("juju-0", `null`, "ovn-central_0")
	f.Add("", `[]`, "")
	f.Fuzz(func(t *testing.T, name, sans, unit string) {
		r, found := ParseRequest("ovn-central/0", map[string]string{"common_name": name, "sans": sans, "unit_name": unit})
		if !found {
			return
		}
		again, found := ParseRequest("ovn-central/0", r.Databag())
		require.True(t, found)
		require.Equal(t, r.Databag(), again.Databag())
		require.Subset(t, r.SANs, again.SANs)
	})
}
