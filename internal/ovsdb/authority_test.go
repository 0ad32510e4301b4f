//go:build programs

package ovsdb_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// issue writes a key, a certificate for the name, and the certificates of the CA to files.
func issue(t *testing.T, ca *vault.CA, name string, validFor time.Duration) ovndb.Credentials {
	t.Helper()
	certificate, key := ca.Issue(name, nil, time.Now().Add(-2*time.Hour), time.Now().Add(validFor))
	dir := t.TempDir()
	c := ovndb.Credentials{
		Key: filepath.Join(dir, "key"), Certificate: filepath.Join(dir, "certificate"), CA: filepath.Join(dir, "ca"),
	}
	for path, text := range map[string]string{
		c.Key: key, c.Certificate: certificate, c.CA: ca.PEM() + "\n" + ca.ChainPEM(),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	}
	return c
}

// options make a server use the credentials.
func options(c ovndb.Credentials) []string {
	return []string{"--private-key=" + c.Key, "--certificate=" + c.Certificate, "--ca-cert=" + c.CA}
}
