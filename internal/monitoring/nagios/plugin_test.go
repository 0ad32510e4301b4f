//go:build programs

package nagios_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

const day = 24 * time.Hour

// file writes a text to a new file, and returns the path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "certificate")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// leaf returns the file of a certificate that expires after the given time.
func leaf(t *testing.T, ca *vault.CA, end time.Duration) string {
	t.Helper()
	certificate, _ := ca.Issue("unit", nil, time.Now().Add(-400*day), time.Now().Add(end))
	return file(t, certificate)
}

// plugin runs the plugin with the real openssl and returns its exit status and line.
func plugin(t *testing.T, args ...string) (status int, line string) {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Args: append([]string{"./check_ovn_certs"}, args...)})
	if failed := (*run.Error)(nil); errors.As(err, &failed) {
		return failed.ExitCode, string(out)
	}
	require.NoError(t, err)
	return 0, string(out)
}

func TestPlugin_expiry(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		leaf, ca time.Duration
		status   int
		says     string
	}{
		"long to go":                    {300 * day, 3000 * day, 0, "OK: "},
		"less than 60 days":             {59 * day, 3000 * day, 1, "WARNING: "},
		"just more than 60 days":        {60*day + time.Hour, 3000 * day, 0, "OK: "},
		"less than 30 days":             {29 * day, 3000 * day, 2, " 30 days (depth 0: "},
		"expired":                       {-time.Hour, 3000 * day, 2, "valid (depth 0: "},
		"the CA ends before the unit's": {300 * day, 59 * day, 1, "(depth 1: "},
		"the CA has expired":            {300 * day, -time.Hour, 2, "valid (depth 1: "},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			ca := vault.NewWith("CA", vault.Options{CATTL: c.ca})
			status, line := plugin(t, leaf(t, ca, c.leaf), file(t, ca.PEM()))
			assert.Equal(t, c.status, status, line)
			assert.Contains(t, line, c.says)
			assert.NotContains(t, line[:len(line)-1], "\n", "Nagios shows one line")
		})
	}
}

func TestPlugin_unusable_certificates_are_critical(t *testing.T) {
	t.Parallel()
	ca := vault.New("CA")
	good, trusted, torn := leaf(t, ca, 300*day), file(t, ca.PEM()), file(t, "-----BEGIN CERTIFICATE-----\n")
	for title, args := range map[string][]string{
		"of another CA":         {good, file(t, vault.New("CA").PEM())},
		"no certificate":        {torn, trusted},
		"no CA":                 {good, torn},
		"certificate not there": {good + "-gone", trusted},
		"CA not there":          {good, trusted + "-gone"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			status, line := plugin(t, args...)
			assert.Equal(t, 2, status, line)
			assert.Contains(t, line, "CRITICAL: ")
		})
	}
	status, line := plugin(t, good)
	assert.Equal(t, 3, status, line)
}
