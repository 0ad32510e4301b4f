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

func TestDefaultsSayWhereTheServersAre(t *testing.T) {
	t.Parallel()
	assert.Equal(t, string(golden(t, "defaults-leader.txt")), string(defaults("10.0.0.1", "").Render()))
	assert.Equal(t, string(golden(t, "defaults-member-ipv6.txt")), string(defaults("fd00::2", "fd00::1").Render()))
}

func TestOptionsOfAnyLayoutAreRead(t *testing.T) {
	t.Parallel()
	wanted := systemd.Options{"db-nb-cluster-local-addr": "10.0.0.1", "db-nb-cluster-remote-addr": "", "ovn-northd-n-threads": "4"}
	for name, text := range map[string]string{
		"one line":      "OVN_CTL_OPTS=--db-nb-cluster-local-addr=10.0.0.1 --db-nb-cluster-remote-addr= --ovn-northd-n-threads=4",
		"double quotes": "OVN_CTL_OPTS=\"--db-nb-cluster-local-addr=10.0.0.1 --db-nb-cluster-remote-addr= --ovn-northd-n-threads=4\"\n",
		"single quotes": "OVN_CTL_OPTS='--db-nb-cluster-local-addr=10.0.0.1 --db-nb-cluster-remote-addr= --ovn-northd-n-threads=4'\n",
		"many lines":    "\n# OVN_CTL_OPTS=--no\n; OVN_CTL_OPTS=--no\nOVN_CTL_OPTS= \\\n  --db-nb-cluster-local-addr=10.0.0.1 \\\n  --db-nb-cluster-remote-addr= \\\n  --ovn-northd-n-threads=4\nOTHER=1\n",
		"given twice":   "OVN_CTL_OPTS=--ovn-northd-n-threads=1 --db-nb-cluster-local-addr=10.0.0.1 --db-nb-cluster-remote-addr= --ovn-northd-n-threads=4",
		"set twice":     "OVN_CTL_OPTS=--ovn-northd-n-threads=1\nOVN_CTL_OPTS=--db-nb-cluster-local-addr=10.0.0.1 --db-nb-cluster-remote-addr= --ovn-northd-n-threads=4",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, wanted, systemd.ParseDefaults([]byte(text)))
		})
	}
	assert.Empty(t, systemd.ParseDefaults(nil))
	assert.Empty(t, systemd.ParseDefaults([]byte("# This is a POSIX shell fragment\n\n# OVN_CTL_OPTS: extra options\n")), "the packages' own")
}

func TestWhatTheCharmBeforeThisOneWroteNeedsNoRestart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"defaults-python-leader.txt", "defaults-python-member.txt"} {
		old := golden(t, name)
		assert.Equal(t, "10.0.0.1", systemd.ParseDefaults(old)["db-sb-cluster-local-addr"])
		for _, remote := range []string{"", "10.0.0.2", "10.0.0.3"} {
			assert.False(t, systemd.NeedsRestart(old, defaults("10.0.0.1", remote).Render()), "%s, remote %q", name, remote)
		}
	}
}

func TestServersAreRestartedForWhatTheyDependOn(t *testing.T) {
	t.Parallel()
	old := defaults("10.0.0.1", "10.0.0.2").Render()
	moved := defaults("10.0.0.1", "")
	moved.Credentials.Key = "/etc/ovn/other"
	replace := func(from, to string) []byte { return []byte(strings.ReplaceAll(string(old), from, to)) }
	for name, test := range map[string]struct {
		text   []byte
		wanted bool
	}{
		"the same":           {old, false},
		"a comment less":     {replace("# Written by the charm ovn-central. Changes are overwritten.\n", ""), false},
		"on one line":        {replace("\\\n    ", " "), false},
		"another address":    {defaults("10.0.0.9", "10.0.0.2").Render(), true},
		"another key":        {moved.Render(), true},
		"without TLS":        {replace("local-proto=ssl", "local-proto=tcp"), true},
		"an option more":     {replace("--db-nb-cluster-local-port", "--ovn-nb-log=-vfile:dbg --db-nb-cluster-local-port"), true},
		"another variable":   {append([]byte("OVS_RUNDIR=/srv\n"), old...), true},
		"what packages ship": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.wanted, systemd.NeedsRestart(old, test.text))
			assert.Equal(t, test.wanted, systemd.NeedsRestart(test.text, old))
		})
	}
}
