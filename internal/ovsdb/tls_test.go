//go:build programs

package ovsdb_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// secure starts the only member of a cluster that uses TLS for servers and clients.
func secure(t *testing.T, d ovndb.Database, c ovndb.Credentials) *server {
	t.Helper()
	s := ovsdbtest.New(t, d, loopbacktest.Network(t)+".1")
	s.Address = "ssl" + s.Address[len("tcp"):]
	return listening(s, options(c), endpointsOf(s)...).Create(t).Start(t)
}

func askWith(t *testing.T, c ovndb.Credentials, s *server) (ovsdb.ServerState, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	return (&ovsdb.Dialer{Credentials: c}).Server(ctx, s.Database, endpointsOf(s)...)
}

func TestTLS_same_CA_is_trusted(t *testing.T) {
	t.Parallel()
	root := newAuthority(t)
	between := root.intermediate(t)
	below := between.intermediate(t)
	tests := map[string]struct{ server, client ovndb.Credentials }{
		"by the root":              {root.issue(t, "a", time.Hour), root.issue(t, "b", time.Hour)},
		"by an intermediate":       {between.issue(t, "a", time.Hour), between.issue(t, "b", time.Hour)},
		"by two in a chain":        {below.issue(t, "a", time.Hour), below.issue(t, "b", time.Hour)},
		"of a name that is not it": {root.issue(t, "somebody else", time.Hour), root.issue(t, "b", time.Hour)},
		"once the root has given way to an intermediate": {root.issue(t, "a", time.Hour), mixed(root.issue(t, "b", time.Hour), between.issue(t, "c", time.Hour))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := secure(t, ovndb.SB, test.server)
			state, err := askWith(t, test.client, s)
			require.NoError(t, err)
			assert.Equal(t, s.Status(t).Server, state.Server)
		})
	}
}

func TestTLS_other_servers_are_refused(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	own := ours.issue(t, "client", time.Hour)
	tests := map[string]struct {
		server, client ovndb.Credentials
		says           string
	}{
		"of another authority":      {theirs.issue(t, "server", time.Hour), own, "unknown authority"},
		"expired":                   {ours.issue(t, "server", -time.Hour), own, "expired"},
		"that do not trust us":      {ours.issue(t, "server", time.Hour), mixed(theirs.issue(t, "client", time.Hour), own), ""},
		"other_CA_that_trusts_ours": {mixed(theirs.issue(t, "server", time.Hour), own), own, "unknown authority"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := askWith(t, test.client, secure(t, ovndb.NB, test.server))
			require.ErrorContains(t, err, test.says)
		})
	}
}

// mixed has one's own certificate, and the other's CAs.
func mixed(own, trust ovndb.Credentials) ovndb.Credentials {
	own.CA = trust.CA
	return own
}

func TestTLS_unreadable_credentials_are_named(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	s := secure(t, ovndb.NB, a.issue(t, "server", time.Hour))
	good := a.issue(t, "client", time.Hour)
	empty := good.CA + ".empty"
	require.NoError(t, os.WriteFile(empty, nil, 0o600))

	_, err := askWith(t, ovndb.Credentials{Key: good.Key, Certificate: "/nonexistent/cert_host", CA: good.CA}, s)
	require.ErrorContains(t, err, "cannot load the unit's certificate: open /nonexistent/cert_host")
	_, err = askWith(t, ovndb.Credentials{Key: empty, Certificate: good.Certificate, CA: good.CA}, s)
	require.ErrorContains(t, err, "cannot load the unit's certificate")
	_, err = askWith(t, ovndb.Credentials{Key: good.Key, Certificate: good.Certificate, CA: "/nonexistent/ca"}, s)
	require.ErrorContains(t, err, "cannot read the CA's certificate: open /nonexistent/ca")
	_, err = askWith(t, ovndb.Credentials{Key: good.Key, Certificate: good.Certificate, CA: empty}, s)
	require.ErrorContains(t, err, "no certificate in "+empty)
}

func TestTLS_no_credentials_without_TLS(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	_, err := askWith(t, ovndb.Credentials{Key: "/nonexistent"}, s)
	require.NoError(t, err)
}

func TestTLS_plain_server_is_reported(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begun := time.Now()
	_, err := (&ovsdb.Dialer{Credentials: newAuthority(t).issue(t, "client", time.Hour)}).
		Server(ctx, ovndb.NB, "ssl"+endpointsOf(s)[0][len("tcp"):])
	require.Error(t, err)
	assert.Less(t, time.Since(begun), patience)
}

func TestTLS_IPv6(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	endpoint := "ssl:[::1]:" + freePort(t)
	s := ovsdbtest.New(t, ovndb.SB, loopbacktest.Network(t)+".1")
	listening(s, options(a.issue(t, "server", time.Hour)), endpoint).Create(t).Start(t)
	state, err := (&ovsdb.Dialer{Credentials: a.issue(t, "client", time.Hour)}).Server(t.Context(), ovndb.SB, endpoint)
	require.NoError(t, err)
	assert.Equal(t, s.Status(t).Server, state.Server)
}

func TestDialer_protocol_that_the_server_does_not_speak(t *testing.T) {
	t.Parallel()
	root := newAuthority(t)
	own := root.issue(t, "client", time.Hour)
	dialer := &ovsdb.Dialer{Credentials: own}
	ask := func(s *server, from, to string) error {
		_, err := dialer.Server(t.Context(), s.Database, to+strings.TrimPrefix(endpointsOf(s)[0], from))
		return err
	}
	t.Run("TLS port without TLS", func(t *testing.T) {
		t.Parallel()
		s := secure(t, ovndb.NB, root.issue(t, "server", time.Hour))
		require.ErrorContains(t, ask(s, "ssl:", "tcp:"), "use "+endpointsOf(s)[0])
	})
	t.Run("TLS on a port without it", func(t *testing.T) {
		t.Parallel()
		s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1")
		listening(s, nil, endpointsOf(s)...).Create(t).Start(t)
		require.ErrorContains(t, ask(s, "tcp:", "ssl:"), "use "+endpointsOf(s)[0])
	})
	t.Run("Raft port", func(t *testing.T) {
		t.Parallel()
		s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1")
		s.Create(t).Start(t)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := dialer.Server(ctx, s.Database, s.Address)
		require.ErrorContains(t, err, "clients use 6641")
	})
}
