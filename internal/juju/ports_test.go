package juju_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func TestPorts_one_call_each(t *testing.T) {
	t.Parallel()
	script := tools(t,
		runtest.Expect("open-port", "6641/tcp"), runtest.Expect("open-port", "16642/tcp"), runtest.Expect("close-port", "6642/tcp"))
	require.NoError(t, script.OpenPorts(t.Context(), 6641, 16642))
	require.NoError(t, script.ClosePorts(t.Context(), 6642))
	require.NoError(t, script.OpenPorts(t.Context()), "nothing to open")
}

func TestPorts_stop_at_refusal(t *testing.T) {
	t.Parallel()
	script := tools(t, runtest.Expect("open-port", "0/tcp").Fails(2, "ERROR port must be between 1 and 65535, got 0\n"))
	require.EqualError(t, script.OpenPorts(t.Context(), 0, 6641), "cannot open TCP port 0: open-port: ERROR port must be between 1 and 65535, got 0")
}

func TestApplicationVersionSet_one_line_and_no_flag(t *testing.T) {
	t.Parallel()
	script := tools(t,
		runtest.Expect("application-version-set", "--", "24.03.2-0ubuntu0.24.04.1"), runtest.Expect("application-version-set", "--", "-x y"))
	require.NoError(t, script.ApplicationVersionSet(t.Context(), "24.03.2-0ubuntu0.24.04.1"))
	require.NoError(t, script.ApplicationVersionSet(t.Context(), "-x\ny\n"))
}
