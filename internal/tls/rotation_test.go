//go:build programs

package tls_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

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
