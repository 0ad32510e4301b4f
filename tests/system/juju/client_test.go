package juju

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
)

// scripted returns a client whose program is a shell script.
func scripted(t *testing.T, script string) *Client {
	t.Helper()
	program := filepath.Join(t.TempDir(), "juju")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755)) //nolint:gosec // it is executed
	return &Client{Program: program, Model: "m", Charm: "./x.charm", App: "ovn-central", TurnOff: TurnOff, Restart: Restart}
}

func TestClient_commands(t *testing.T) {
	t.Parallel()
	typed := filepath.Join(t.TempDir(), "typed")
	c := scripted(t, `echo "$@" >`+typed+"\n")
	c.Machines = []string{"0", "1", "2", "3"}
	const unit = "ovn-central/0"
	for _, of := range []struct {
		want string
		do   func(ctx context.Context) error
	}{
		{"deploy -m m ./x.charm ovn-central -n 3 --config a=1 --config b=2 --to 0,1,2", func(ctx context.Context) error {
			return c.Deploy(ctx, 3, map[string]string{"b": "2", "a": "1"})
		}},
		{"add-unit -m m ovn-central -n 1 --to 3", func(ctx context.Context) error { return c.Add(ctx, 1) }},
		{"integrate -m m ovn-central:certificates vault:certificates", func(ctx context.Context) error { return c.Relate(ctx, "certificates", "vault") }},
		{"config -m m ovn-central a=1", func(ctx context.Context) error {
			return c.Configure(ctx,
				map[string]string{"a": "1"})
		}},
		{"exec -m m --unit ovn-central/0 -- ovn-nbctl show", func(ctx context.Context) error {
			_, err := c.Exec(ctx, unit,
				"ovn-nbctl", "show")
			return err
		}},
		{"ssh -m m ovn-central/0 -- sudo systemctl poweroff --force --force", func(ctx context.Context) error { return c.PowerOff(ctx, unit) }},
		{"ssh -m m ovn-central/0 -- sudo systemctl restart jujud-machine-*", func(ctx context.Context) error { return c.RestartAgent(ctx, unit) }},
		{"remove-unit -m m --no-prompt ovn-central/0", func(ctx context.Context) error { return c.Remove(ctx, unit, false) }},
		{"remove-unit -m m --no-prompt --force --no-wait ovn-central/0", func(ctx context.Context) error { return c.Remove(ctx, unit, true) }},
		{"remove-application -m m --no-prompt ovn-central", c.Destroy},
	} {
		require.NoError(t, of.do(t.Context()))
		got, err := os.ReadFile(typed)
		require.NoError(t, err)
		assert.Equal(t, of.want+"\n", string(got))
	}
}

func TestClient_reads_status_and_log(t *testing.T) {
	t.Parallel()
	c := scripted(t, `case "$*" in
"status -m m --format=json") echo '{"applications":{"ovn-central":{"units":{"ovn-central/0":{"workload-status":{"current":"active","message":"Unit is ready"},"juju-status":{"current":"idle"},"leader":true}}}}}' ;;
"show-status-log -m m --type workload -n 200 --format=json ovn-central/0") echo '[{"status":"waiting","message":"x","since":"2026-11-28T17:00:00Z"}]' ;;
*) exit 1 ;;
esac
`)
	units, err := c.Units(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]cluster.Unit{"ovn-central/0": {
		Workload: cluster.Status{Current: "active", Message: "Unit is ready"}, Agent: cluster.Status{Current: "idle"}, Leader: true,
	}}, units)
	log, err := c.Log(t.Context(), "ovn-central/0")
	require.NoError(t, err)
	require.Len(t, log, 1)
	assert.Equal(t, "waiting", log[0].Status)
	assert.Equal(t, 17, log[0].Since.Hour())
}

// Juju's client exits with 0 if the controller refuses an action, and gives up after a minute unless told otherwise.
func TestClient_runs_actions(t *testing.T) {
	t.Parallel()
	c := scripted(t, `case "$*" in
*nb-identity=17*) echo 'Operation 2 failed to schedule any tasks:' >&2; echo 'validation failed: (root).nb-identity' >&2 ;;
*nb-identity=18*) echo '{"ovn-central/0":{"status":"failed","message":"no such member"}}'; exit 1 ;;
"run -m m --format=json --wait=10m0s ovn-central/0 kick nb-identity=19") echo '{"ovn-central/0":{"status":"completed","results":{"next":"nothing"}}}' ;;
*) echo 'ERROR timed out waiting for results from: ovn-central/0' >&2; exit 1 ;;
esac
`)
	for id, want := range map[string]string{"17": "validation failed: (root).nb-identity", "18": "no such member"} {
		_, err := c.Run(t.Context(), "ovn-central/0", "kick", "nb-identity="+id)
		require.ErrorIs(t, err, cluster.ErrAction)
		require.ErrorContains(t, err, want)
	}
	results, err := c.Run(t.Context(), "ovn-central/0", "kick", "nb-identity=19")
	require.NoError(t, err)
	assert.Equal(t, "nothing", results["next"])
	_, err = c.Run(t.Context(), "ovn-central/0", "kick", "nb-identity=20")
	require.ErrorContains(t, err, "timed out")
	require.NotErrorIs(t, err, cluster.ErrAction)
}
