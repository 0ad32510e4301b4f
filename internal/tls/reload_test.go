//go:build programs

package tls_test

import (
	"encoding/json"
	"os"
	"strings"
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

// insert makes a transaction that a majority has to store.
func insert(t *testing.T, c *client, name string) {
	t.Helper()
	row := map[string]any{"name": name}
	result, err := c.call("transact", ovndb.NB, map[string]any{"op": "insert", "table": "Logical_Switch", "row": row})
	require.NoError(t, err)
	var done []struct{ UUID []string }
	require.NoError(t, json.Unmarshal(result, &done), "%s", result)
	require.Len(t, done, 1)
	require.NotEmpty(t, done[0].UUID, "%s", result)
}

// Each case begins with a server that uses the old pair, and ends with the new pair on disk.
func TestReload_order_of_files(t *testing.T) {
	t.Parallel()
	ca := vault.New("Vault")
	visitor := credentials(t, ca, "127.0.0.1")
	old, fresh := credentials(t, ca, "127.0.0.2"), credentials(t, ca, "127.0.0.3")

	put := func(path string, data []byte, mode os.FileMode, f tls.Files) error {
		awaitTick(t, f)
		return atomicfile.Write(path, data, mode)
	}
	steps := map[string]func(*server) error{
		"key":         func(s *server) error { return put(s.files.Key, fresh.Key, 0o600, s.files) },
		"certificate": func(s *server) error { return put(s.files.Certificate, fresh.Certificate, 0o644, s.files) },
		// The server checks the files before it accepts a connection.
		"serves_old": func(s *server) error {
			assert.Equal(t, serial(t, old), served(t, s, visitor))
			return nil
		},
		"serves_none": func(s *server) error {
			_, err := dial(t, s, visitor)
			require.Error(t, err)
			return nil
		},
		"write":   func(s *server) error { write(t, s.files, fresh); return nil },
		"touch":   func(s *server) error { awaitTick(t, s.files); return s.files.Touch() },
		"restart": func(s *server) error { restart(t, s); return nil },
	}
	tests := map[string]bool{ // whether the new pair is loaded
		"write":                      true,
		"certificate serves_old key": true,
		"key serves_old certificate": false,
		"key serves_old certificate serves_old write":                 true,
		"key serves_old write":                                        true,
		"certificate serves_old write":                                true,
		"write write":                                                 true,
		"certificate restart serves_none write":                       true,
		"certificate restart key serves_none write serves_none touch": true,
	}
	for test, loaded := range tests {
		t.Run(test, func(t *testing.T) {
			t.Parallel()
			s := alone(t, loopbacktest.Network(t)+".1", old)
			process := s.Pid
			held, err := dial(t, s, visitor)
			require.NoError(t, err)
			for step := range strings.FieldsSeq(test) {
				require.NoError(t, steps[step](s))
			}
			if loaded {
				awaitServed(t, s, visitor, fresh)
			} else {
				assert.Equal(t, serial(t, old), served(t, s, visitor))
			}
			if s.Pid == process {
				_, err = held.call("echo")
				require.NoError(t, err, "existing connections continue")
			}
		})
	}
}

func restart(t *testing.T, s *server) {
	t.Helper()
	s.Kill(t)
	s.Start(t)
}

// A CA may issue a new certificate for the same key.
func TestReload_certificate_for_same_key(t *testing.T) {
	t.Parallel()
	ca := vault.New("Vault")
	old := credentials(t, ca, "127.0.0.2")
	s := alone(t, loopbacktest.Network(t)+".1", old)
	renewed := old
	renewed.Certificate = ca.Renew(old.Certificate)
	require.NotEqual(t, serial(t, old), serial(t, renewed))

	awaitTick(t, s.files)
	require.NoError(t, atomicfile.Write(s.files.Certificate, renewed.Certificate, 0o644))
	assert.Equal(t, serial(t, old), served(t, s, old), "a certificate without its key")

	write(t, s.files, old)
	served(t, s, old)
	write(t, s.files, renewed)
	awaitServed(t, s, old, renewed)
}

// Both authorities have the same name, as vault's roots do.
func TestReload_authority_changes(t *testing.T) {
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

			// First, all units trust both authorities.
			trustA, trustB := oldA, oldB
			trustA.CA, trustB.CA = newA.CA, newB.CA
			write(t, a.files, trustA)
			write(t, b.files, trustB)
			reached(t, a, oldB, trustB)
			// Then one unit after the other changes its certificate. Old clients that trust both can connect.
			write(t, a.files, newA)
			reached(t, a, trustB, newB)
			insert(t, held, "while one has moved")
			write(t, b.files, newB)
			reached(t, b, trustA, newA)
			// Finally, no unit trusts the old authority.
			aloneA, aloneB := newA, newB
			aloneA.CA, aloneB.CA = credentials(t, second, "127.0.0.1").CA, credentials(t, second, "127.0.0.2").CA
			write(t, a.files, aloneA)
			write(t, b.files, aloneB)
			reached(t, a, aloneB)
			_, err = dial(t, a, trustB)
			require.Error(t, err, "a certificate of the first authority")

			insert(t, held, "by the first connection")
			assert.Equal(t, before.Term, a.Status(t).Term)
			assert.Contains(t, a.Status(t).Text, "\nDisconnections: 0\n")
			assert.Contains(t, b.Status(t).Text, "\nDisconnections: 0\n")
		})
	}
}

// reached asserts that the server and a client with each of these credentials accept each other.
func reached(t *testing.T, s *server, all ...tls.Credentials) {
	t.Helper()
	for i, c := range all {
		_, err := dial(t, s, c)
		require.NoError(t, err, "credentials %d", i)
	}
}

// A member that restarts meanwhile reconnects, unless its peer changed its certificate before the member trusts the
// new authority.
func TestReload_member_restarts_while_authority_changes(t *testing.T) {
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
	insert(t, insertHeld, "over existing connections")
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
