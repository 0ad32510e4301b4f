//go:build programs

package tls_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// insert is a transaction that a majority has to store.
func insert(t *testing.T, c *client, name string) {
	t.Helper()
	result, err := c.call("transact", ovndb.NB, map[string]any{"op": "insert", "table": "Logical_Switch", "row": map[string]any{"name": name}})
	require.NoError(t, err)
	var done []struct{ UUID []string }
	require.NoError(t, json.Unmarshal(result, &done), "%s", result)
	require.Len(t, done, 1)
	require.NotEmpty(t, done[0].UUID, "%s", result)
}

// Issue part 4: one unit at a time reloads, connections survive.
func TestRenewedCertificateIsServedWithoutRestart(t *testing.T) {
	t.Parallel()
	ca := vault.New("Vault")
	visitor := credentials(t, ca, "127.0.0.1")
	a, b := pair(t, credentials(t, ca, "127.0.0.1"), credentials(t, ca, "127.0.0.2"))
	before := a.Status(t)
	held, err := dial(t, a, visitor)
	require.NoError(t, err)

	for _, s := range []*server{a, b} {
		renewed := credentials(t, ca, s.host)
		write(t, s.files, renewed)
		awaitServed(t, s, visitor, renewed)
		insert(t, held, "after "+s.host)
	}

	assert.NotEqual(t, leaf(t, credentials(t, ca, a.host)).SerialNumber, held.ConnectionState().PeerCertificates[0].SerialNumber)
	after := a.Status(t)
	assert.Equal(t, before.Term, after.Term, "there was no election")
	assert.Zero(t, *after.Disconnections)
	assert.Zero(t, *b.Status(t).Disconnections)

	// What they send each other is the new certificate too: they find together
	// again after a restart of either.
	for _, s := range []*server{a, b} {
		s.Kill(t)
		s.Start(t)
		awaitConnected(t, a, b)
	}
}

// The order in which the files are replaced decides whether a server ever loads
// them. Each case begins at a server that serves old, and ends at new on the disk.
func TestReplacedFilesAreLoaded(t *testing.T) {
	t.Parallel()
	ca := vault.New("Vault")
	visitor := credentials(t, ca, "127.0.0.1")
	old, fresh := credentials(t, ca, "127.0.0.2"), credentials(t, ca, "127.0.0.3")

	put := func(t *testing.T, s *server, path string, data []byte, mode os.FileMode) {
		t.Helper()
		awaitTick(t, s.files)
		require.NoError(t, atomicfile.Write(path, data, mode))
	}
	key := func(t *testing.T, s *server) { t.Helper(); put(t, s, s.files.Key, fresh.Key, 0o600) }
	certificate := func(t *testing.T, s *server) {
		t.Helper()
		put(t, s, s.files.Certificate, fresh.Certificate, 0o644)
	}
	// look wakes the server: it compares the files before it takes a connection.
	look := func(t *testing.T, s *server) {
		t.Helper()
		assert.Equal(t, leaf(t, old).SerialNumber, served(t, s, visitor).SerialNumber, "the old pair, as long as the new one is not whole")
	}
	store := func(t *testing.T, s *server) { t.Helper(); write(t, s.files, fresh) }

	touch := func(t *testing.T, s *server) {
		t.Helper()
		awaitTick(t, s.files)
		require.NoError(t, s.files.Touch())
	}
	deaf := func(t *testing.T, s *server) {
		t.Helper()
		_, err := dial(t, s, visitor)
		require.Error(t, err, "the server has no pair")
	}

	type step func(*testing.T, *server)
	tests := map[string]struct {
		steps  []step
		loaded bool
	}{
		"by Write":                         {[]step{store}, true},
		"certificate, then key":            {[]step{certificate, look, key}, true},
		"key, then certificate":            {[]step{key, look, certificate}, false},
		"key, then certificate, by Write":  {[]step{key, look, certificate, look, store}, true},
		"killed after the key, by Write":   {[]step{key, look, store}, true},
		"killed after the certificate":     {[]step{certificate, look, store}, true},
		"by Write twice":                   {[]step{store, store}, true},
		"restarted where there is no pair": {[]step{certificate, restart, deaf, store}, true},
		"started between the two, touched": {[]step{certificate, restart, key, deaf, store, deaf, touch}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := alone(t, loopbacktest.Network(t)+".1", old)
			process := s.Pid
			held, err := dial(t, s, visitor)
			require.NoError(t, err)
			for _, do := range tt.steps {
				do(t, s)
			}
			if tt.loaded {
				awaitServed(t, s, visitor, fresh)
			} else {
				assert.Equal(t, leaf(t, old).SerialNumber, served(t, s, visitor).SerialNumber)
			}
			if s.Pid == process {
				_, err = held.call("echo")
				require.NoError(t, err, "the connection that stands goes on")
			}
		})
	}
}

func restart(t *testing.T, s *server) {
	t.Helper()
	s.Kill(t)
	s.Start(t)
}

// easyrsa, for one, could sign the same key again.
func TestCertificateRenewedForTheSameKeyIsLoaded(t *testing.T) {
	t.Parallel()
	ca := vault.New("Vault")
	old := credentials(t, ca, "127.0.0.2")
	s := alone(t, loopbacktest.Network(t)+".1", old)
	renewed := old
	renewed.Certificate = ca.Renew(old.Certificate)
	require.NotEqual(t, leaf(t, old).SerialNumber, leaf(t, renewed).SerialNumber)

	awaitTick(t, s.files)
	require.NoError(t, atomicfile.Write(s.files.Certificate, renewed.Certificate, 0o644))
	assert.Equal(t, leaf(t, old).SerialNumber, served(t, s, old).SerialNumber, "ovsdb-server doesn't see a certificate without its key")

	write(t, s.files, old)
	served(t, s, old)
	write(t, s.files, renewed)
	awaitServed(t, s, old, renewed)
}

// Issue part 4: the authority changes under a running cluster. Both have the
// same name, as vault's roots have.
func TestAuthorityChangesUnderACluster(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]vault.Options{"roots": {}, "intermediates": {Chain: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := vault.NewWith("Vault Root", o), vault.NewWith("Vault Root", o)
			oldA, oldB := credentials(t, first, "127.0.0.1"), credentials(t, first, "127.0.0.2")
			newA, newB := credentials(t, second, "127.0.0.1", first), credentials(t, second, "127.0.0.2", first)
			a, b := pair(t, oldA, oldB)
			before := a.Status(t)
			held, err := dial(t, a, oldB)
			require.NoError(t, err)

			// First all units trust both.
			trustA, trustB := oldA, oldB
			trustA.CA, trustB.CA = newA.CA, newB.CA
			write(t, a.files, trustA)
			write(t, b.files, trustB)
			reached(t, a, oldB, trustB)
			// Then one after the other moves. Old clients that trust both get in.
			write(t, a.files, newA)
			reached(t, a, trustB, newB)
			insert(t, held, "while one has moved")
			write(t, b.files, newB)
			reached(t, b, trustA, newA)
			// At last no unit trusts the first.
			aloneA, aloneB := newA, newB
			aloneA.CA, aloneB.CA = credentials(t, second, "127.0.0.1").CA, credentials(t, second, "127.0.0.2").CA
			write(t, a.files, aloneA)
			write(t, b.files, aloneB)
			reached(t, a, aloneB)
			_, err = dial(t, a, trustB)
			require.Error(t, err, "a certificate of the first is of no use any more")

			insert(t, held, "by a connection of the first days")
			assert.Equal(t, before.Term, a.Status(t).Term)
			assert.Zero(t, *a.Status(t).Disconnections)
			assert.Zero(t, *b.Status(t).Disconnections)
		})
	}
}

// reached reports whether connections with each of these credentials are taken, and
// trust the server.
func reached(t *testing.T, s *server, all ...tls.Credentials) {
	t.Helper()
	for i, c := range all {
		_, err := dial(t, s, c)
		require.NoError(t, err, "credentials %d", i)
	}
}

// Half way, a member that restarts finds the others again; where a unit moved
// before its peer trusts the new authority, it doesn't.
func TestMembersFindEachOtherWhileTheAuthorityChanges(t *testing.T) {
	t.Parallel()
	first, second := vault.New("Vault Root"), vault.New("Vault Root")
	oldA, oldB := credentials(t, first, "127.0.0.1"), credentials(t, first, "127.0.0.2")
	newA := credentials(t, second, "127.0.0.1", first)
	trustB := oldB
	trustB.CA = newA.CA
	a, b := pair(t, oldA, oldB)

	write(t, a.files, newA) // too early
	insertHeld, err := dial(t, a, trustB)
	require.NoError(t, err)
	insert(t, insertHeld, "over the connections that stand")
	restart(t, b)
	require.Eventually(t, func() bool {
		_, err := dial(t, b, newA)
		return err != nil && !connected(t, b)
	}, patience, 20*time.Millisecond, "the peer refuses the new authority")

	write(t, b.files, trustB)
	awaitConnected(t, a, b)
	restart(t, a)
	awaitConnected(t, a, b)
}
