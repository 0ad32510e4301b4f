package relation

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var request = CertificateRequest{
	Unit: "ovn-central/0", CommonName: "juju-0.example.com",
	SANs: []string{"juju-0", "2001:db8::1", "10.0.0.1", "10.0.0.1"},
}

func TestCertificateRequest_wire_form(t *testing.T) {
	t.Parallel()
	assert.Equal(t, map[string]string{
		"unit_name":        "ovn-central_0",
		"common_name":      "juju-0.example.com",
		"sans":             `["10.0.0.1", "2001:db8::1", "juju-0"]`,
		"certificate_name": "ovn-central_0",
		"cert_requests":    "",
	}, request.Databag())
	assert.Equal(t, "[]", CertificateRequest{Unit: "ovn-central/0", CommonName: "a"}.Databag()["sans"])
	assert.Equal(t, []string{"juju-0", "2001:db8::1", "10.0.0.1", "10.0.0.1"}, request.SANs,
		"the request is left as it was")
}

// A provider issues a new certificate if the bytes change.
func TestCertificateRequest_order_of_SANs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sans := rapid.SliceOf(rapid.StringMatching(`[a-z0-9.:-]{1,5}`)).Draw(t, "sans")
		r := CertificateRequest{Unit: "ovn-central/0", CommonName: "a", SANs: sans}
		want := r.Databag()
		r.SANs = append(rapid.Permutation(sans).Draw(t, "order"), sans...)
		require.Equal(t, want, r.Databag())

		read, found := ParseRequest("ovn-central/0", want)
		require.True(t, found)
		require.Equal(t, want, read.Databag())
		slices.Sort(sans)
		require.ElementsMatch(t, slices.Compact(sans), read.SANs)
	})
}

// The Python charm's published request stays valid.
func TestParseRequest_previous_charm(t *testing.T) {
	t.Parallel()
	databag := map[string]string{
		"egress-subnets": "10.0.0.1/32", "unit_name": "ovn-central_0", "common_name": "juju-0.example.com",
		"sans": `["10.0.0.1", "10.1.0.1"]`, "certificate_name": "4e4b1d94-3d6b-4c0e-8d5b-7f6f4a1f9b11",
	}
	r, found := ParseRequest("ovn-central/0", databag)
	require.True(t, found)
	assert.Equal(t, CertificateRequest{
		Unit: "ovn-central/0", CommonName: "juju-0.example.com",
		SANs: []string{"10.0.0.1", "10.1.0.1"},
	}, r)
	assert.Equal(t, databag["sans"], r.Databag()["sans"], "byte for byte")

	for name, change := range map[string]map[string]string{
		"nothing":        {"common_name": "", "sans": "", "unit_name": ""},
		"no name":        {"common_name": ""},
		"no SANs":        {"sans": ""},
		"garbage":        {"sans": "[10"},
		"of other kinds": {"sans": `{"a":1}`},
		"another unit":   {"unit_name": "ovn-central_1"},
	} {
		changed := maps.Clone(databag)
		maps.Copy(changed, change)
		r, found := ParseRequest("ovn-central/0", changed)
		assert.False(t, found, name)
		assert.Zero(t, r, name)
	}
}

func TestParseIssued_complete_or_missing(t *testing.T) {
	t.Parallel()
	const cert, key, processed = "ovn-central_0.server.cert", "ovn-central_0.server.key",
		"ovn-central_0.processed_requests"
	tests := map[string]struct {
		bag        map[string]string
		want       Issued // empty: a certificate is missing
		unreadable bool
	}{
		"nothing":         {bag: map[string]string{}},
		"the CA only":     {bag: map[string]string{"ca": "CA", "chain": "CHAIN", "client.cert": "C", "client.key": "K"}},
		"no CA yet":       {bag: map[string]string{cert: "CERT", key: "KEY"}},
		"of another unit": {bag: map[string]string{"ca": "CA", "ovn-central_1.server.cert": "C"}},
		"easyrsa": {
			bag: map[string]string{"ca": "CA", cert: "CERT", key: "KEY"}, want: Issued{"CERT", "KEY", "CA", ""},
		},
		"vault": {
			bag:  map[string]string{"ca": "CA", "chain": "CHAIN", cert: "CERT", key: "KEY"},
			want: Issued{"CERT", "KEY", "CA", "CHAIN"},
		},
		"a further request": {
			bag: map[string]string{
				"ca": "CA", processed: `{"juju-0.example.com": {"cert": "CERT", "key": "KEY"}, "b": {"cert": "1"}}`,
			},
			want: Issued{"CERT", "KEY", "CA", ""},
		},
		"both": {
			bag: map[string]string{
				"ca": "CA", cert: "CERT", key: "KEY",
				processed: `{"juju-0.example.com": {"cert": "1", "key": "2"}}`,
			},
			want: Issued{"CERT", "KEY", "CA", ""},
		},
		"of another name": {bag: map[string]string{"ca": "CA", processed: `{"b": {"cert": "1", "key": "2"}}`}},
		"no request":      {bag: map[string]string{"ca": "CA", processed: `null`}},
		"no key":          {bag: map[string]string{"ca": "CA", cert: "CERT"}, unreadable: true},
		"no certificate":  {bag: map[string]string{"ca": "CA", key: "SECRET"}, unreadable: true},
		"garbage": {
			bag:        map[string]string{"ca": "CA", processed: `{"juju-0.example.com": {"key": "SECRET"`},
			unreadable: true,
		},
		"of other kinds": {bag: map[string]string{"ca": "CA", processed: `["SECRET"]`}, unreadable: true},
	}
	for name, tt := range tests {
		issued, found, err := ParseIssued(tt.bag, request)
		require.Equal(t, tt.unreadable, err != nil, name)
		if err != nil {
			assert.NotContains(t, err.Error(), "SECRET")
		}
		require.Equal(t, tt.want.Certificate != "", found, name)
		assert.Equal(t, tt.want, issued, name) // assert.Equal would print nothing in a failure
	}
}

func TestIssued_hides_key(t *testing.T) {
	t.Parallel()
	i := Issued{Key: "SECRET"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("received", "issued", i)
	fmt.Fprintf(&log, "%v %+v %#v %s %q %v", i, i, i, i, i, &i)
	assert.NotContains(t, log.String(), "SECRET")
	assert.Equal(t, 7, strings.Count(log.String(), fmt.Sprint(i)))
}
