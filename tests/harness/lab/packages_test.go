package lab_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// fresh adds a machine without packages, and with a charm that does nothing.
func fresh(t *testing.T) (*lab.Unit, func(command string) (string, int)) {
	t.Helper()
	l := newLab(t, lab.Options{})
	u, err := l.AddUnitWith(ctx(t), lab.AddOptions{Fresh: true})
	require.NoError(t, err)
	return u, func(command string) (string, int) {
		t.Helper()
		out, err := u.Exec(ctx(t), "sh", "-c", "{ "+command+"; } 2>&1; echo = $?")
		require.NoError(t, err)
		end := strings.LastIndex(out, "= ")
		code, err := strconv.Atoi(strings.TrimSpace(out[end+2:]))
		require.NoError(t, err, out)
		return strings.TrimSpace(out[:end]), code
	}
}

// The trap: what isn't masked before the installation is started by it, and makes
// a database that is no cluster's.
func TestInstallationStartsWhatIsNotMasked(t *testing.T) {
	t.Parallel()
	u, run := fresh(t)
	out, code := run("systemctl start ovn-ovsdb-server-nb")
	assert.Equal(t, 5, code, out)
	_, code = run("dpkg-query -W -f '${db:Status-Status}' ovn-central")
	assert.Equal(t, 1, code)
	out, code = run("apt-get -y -q -o DPkg::Lock::Timeout=60 install ovn-central")
	assert.Equal(t, 0, code, out)
	await(t, func() bool {
		name, err := u.Exec(ctx(t), "ovsdb-tool", "db-is-standalone", u.DBFile(lab.NB))
		return err == nil && name == "" && u.Running(lab.NB) && u.Running(lab.SB)
	})
	await(t, func() bool {
		out, _ := run("systemctl is-active ovn-northd")
		return out == "active"
	})
}

func TestInstallationLeavesAloneWhatIsMasked(t *testing.T) {
	t.Parallel()
	u, run := fresh(t)
	out, code := run("systemctl mask ovn-central ovn-ovsdb-server-nb ovn-ovsdb-server-sb")
	require.Equal(t, 0, code, out)
	_, code = run("apt-get install -y ovn-central")
	require.Equal(t, 0, code)
	out, _ = run("systemctl is-enabled ovn-central; systemctl unmask ovn-central; systemctl is-enabled ovn-central")
	assert.Contains(t, out, "masked\n")
	assert.True(t, strings.HasSuffix(out, "enabled"), out)
	assert.NoFileExists(t, u.DBFile(lab.NB))
	out, _ = run("systemctl is-active ovn-central ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-northd")
	assert.Equal(t, "inactive\ninactive\ninactive\ninactive", out)
}

func TestInstallationAsksPolicyRcD(t *testing.T) {
	t.Parallel()
	u, run := fresh(t)
	dir := filepath.Join(filepath.Dir(u.DBDir()), "usr/sbin")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy-rc.d"), []byte("#!/bin/sh\nexit 101\n"), 0o755))
	_, code := run("apt-get install -y ovn-central")
	require.Equal(t, 0, code)
	assert.NoFileExists(t, u.DBFile(lab.NB))
	out, _ := run("systemctl is-enabled ovn-central; systemctl is-active ovn-central")
	assert.Equal(t, "enabled\ninactive", out)
}

func TestPackageToolsSayWhatTheRealOnesSay(t *testing.T) {
	t.Parallel()
	u, run := fresh(t)
	require.NoError(t, u.HoldDpkgLock(1))
	out, code := run("apt-get install -y ovn-central")
	assert.Equal(t, 100, code)
	assert.Contains(t, out, "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process")
	run("systemctl --quiet mask ovn-central ovn-ovsdb-server-nb ovn-ovsdb-server-sb; apt-get update && apt-get install -y ovn-central")
	version := u.Packages()["ovn-central"]
	out, code = run(`dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' ovn-central`)
	assert.Equal(t, "ovn-central "+version+" installed", out)
	assert.Zero(t, code)

	require.NoError(t, u.OfferVersion("99:1.2-3"))
	out, _ = run("apt-cache policy ovn-central")
	assert.Contains(t, out, "ovn-central:\n  Installed: "+version+"\n  Candidate: 99:1.2-3")
	out, _ = run("apt-get install -y --only-upgrade ovn-central")
	assert.Contains(t, out, "Setting up ovn-central (99:1.2-3) ...")
	assert.Equal(t, "99:1.2-3", u.Packages()["ovn-common"])
	out, _ = run("apt-get install -y ovn-central")
	assert.Contains(t, out, "ovn-central is already the newest version (99:1.2-3).")

	require.NoError(t, u.InterruptDpkg())
	out, _ = run("dpkg-query -W -f '${db:Status-Status}' ovn-central; apt-get install -y ovn-central")
	assert.Contains(t, out, "half-configured")
	assert.Contains(t, out, "you must manually run 'dpkg --configure -a'")
	out, code = run("dpkg --configure -a && dpkg-query -W -f '${db:Status-Status}' ovn-central")
	assert.Contains(t, out, "installed")
	assert.Zero(t, code)

	out, code = run("apt-get install -y no-such-thing")
	assert.Equal(t, "E: Unable to locate package no-such-thing", lastLine(out))
	assert.Equal(t, 100, code)
	out, _ = run("snap install prometheus-ovn-exporter --channel=stable && snap list prometheus-ovn-exporter")
	assert.Contains(t, out, "prometheus-ovn-exporter")
	_, code = run("iptables -L")
	assert.Equal(t, 1, code, "what would change the lab's own machine is refused")
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
