package systemd_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

func golden(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return text
}

func defaults(local, remote string) systemd.Defaults {
	d := systemd.Defaults{Local: netip.MustParseAddr(local), Credentials: credentials}
	if remote != "" {
		d.Remote = netip.MustParseAddr(remote)
	}
	return d
}

func TestDefaults_Render(t *testing.T) {
	t.Parallel()
	assert.Equal(t, string(golden(t, "defaults-leader.txt")), string(defaults("10.0.0.1", "").Render()))
	assert.Equal(t, string(golden(t, "defaults-member-ipv6.txt")), string(defaults("fd00::2", "fd00::1").Render()))
}

func TestParseDefaults_layouts(t *testing.T) {
	t.Parallel()
	const rest = "--db-nb-cluster-local-addr=10.0.0.1 --db-nb-cluster-remote-addr= --ovn-northd-n-threads=4"
	wanted := systemd.ParseDefaults([]byte("OVN_CTL_OPTS=" + rest))
	assert.Equal(t, map[string]string{
		"db-nb-cluster-local-addr": "10.0.0.1", "db-nb-cluster-remote-addr": "", "ovn-northd-n-threads": "4",
	}, wanted)
	for name, text := range map[string]string{
		"double_quotes": `OVN_CTL_OPTS="` + rest + "\"\n",
		"single_quotes": "OVN_CTL_OPTS='" + rest + "'\n",
		"many_lines": "\n# OVN_CTL_OPTS=--no\n; OVN_CTL_OPTS=--no\nOVN_CTL_OPTS= \\\n  " +
			strings.ReplaceAll(rest, " ", " \\\n  ") + "\nOTHER=1\n",
		"option_twice":   "OVN_CTL_OPTS=--ovn-northd-n-threads=1 " + rest,
		"variable_twice": "OVN_CTL_OPTS=--ovn-northd-n-threads=1\nOVN_CTL_OPTS=" + rest,
	} {
		assert.Equal(t, wanted, systemd.ParseDefaults([]byte(text)), name)
	}
	assert.Empty(t, systemd.ParseDefaults([]byte("# This is a POSIX shell fragment\n\n# OVN_CTL_OPTS: extra options\n")))
}

func TestNeedsRestart_previous_charm(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"defaults-python-leader.txt", "defaults-python-member.txt"} {
		old := golden(t, name)
		assert.Equal(t, "10.0.0.1", systemd.ParseDefaults(old)["db-sb-cluster-local-addr"])
		for _, remote := range []string{"", "10.0.0.2", "10.0.0.3"} {
			assert.False(t, systemd.NeedsRestart(old, defaults("10.0.0.1", remote).Render()), "%s, remote %q", name, remote)
		}
	}
}

func TestNeedsRestart(t *testing.T) {
	t.Parallel()
	old := defaults("10.0.0.1", "10.0.0.2").Render()
	moved := defaults("10.0.0.1", "")
	moved.Credentials.Key = "/etc/ovn/other"
	replace := func(from, to string) []byte { return []byte(strings.ReplaceAll(string(old), from, to)) }
	for name, test := range map[string]struct {
		text   []byte
		wanted bool
	}{
		"equal":            {old, false},
		"without_comment":  {replace("# Written by the charm ovn-central. Changes are overwritten.\n", ""), false},
		"on_one_line":      {replace("\\\n    ", " "), false},
		"other_address":    {defaults("10.0.0.9", "10.0.0.2").Render(), true},
		"other_key":        {moved.Render(), true},
		"without_TLS":      {replace("local-proto=ssl", "local-proto=tcp"), true},
		"new_option":       {replace("--db-nb-cluster-local-port", "--ovn-nb-log=x --db-nb-cluster-local-port"), true},
		"new_variable":     {append([]byte("OVS_RUNDIR=/srv\n"), old...), true},
		"packages_default": {nil, true},
	} {
		assert.Equal(t, test.wanted, systemd.NeedsRestart(old, test.text), name)
		assert.Equal(t, test.wanted, systemd.NeedsRestart(test.text, old), name)
	}
}
