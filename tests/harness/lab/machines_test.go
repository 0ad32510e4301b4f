package lab_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func TestService_restarts_if_configured(t *testing.T) {
	t.Parallel()
	l := newLab(t, lab.Options{Restart: true})
	u, err := l.AddUnit(ctx(t))
	require.NoError(t, err)
	before, err := u.ServerPID(lab.SB)
	require.NoError(t, err)
	require.NoError(t, u.Kill(lab.SB))
	await(t, func() bool {
		pid, err := u.ServerPID(lab.SB)
		return err == nil && pid != before
	})
}

// fresh adds a machine without packages, and a charm that does nothing.
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

// The trap: what isn't masked before the installation is started by it, and makes a database that is no cluster's.
func TestInstall_starts_unmasked_services(t *testing.T) {
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
