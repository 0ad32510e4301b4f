package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// The commands that an operator knows from Juju, with the application's name.
func TestCommands(t *testing.T) {
	s := newShell(t)
	charm := t.TempDir()
	require.NoError(t, lab.LayOut(t.Context(), charm, root, ""))
	s.run("up --charm " + charm + " --units 1")
	t.Cleanup(func() { s.run("down") })
	s.run("relate-ca")

	s.run("config ovn-central ovsdb-server-election-timer=2")
	assert.Contains(t, s.run("run ovn-central/0 cluster-status --wait=1m"), "Election timer: 2000")
	s.run("power-off ovn-central/0")
	assert.Regexp(t, `unknown +lost .* nb:down sb:down +agent lost, see 'juju show-status-log ovn-central/0'`, s.run("status"))
	s.run("power-on ovn-central/0")
	assert.Contains(t, s.run("status"), "nb:up")
	s.run("add-unit ovn-central -n 2")
	assert.Contains(t, s.run("status"), "ovn-central/2 ")
	assert.Contains(t, s.run("run ovn-central/leader cluster-status"), "on unit-ovn-central-0")

	_, _, code := s.try("remove-unit ovn-central/1 ovn-central/7")
	assert.Equal(t, exitFailure, code)
	assert.Contains(t, s.run("status"), "ovn-central/1 ", "nothing is removed if a name is wrong")
	s.run("remove-unit --force --no-wait ovn-central/1 ovn-central/2")
	left := s.run("status")
	assert.NotContains(t, left, "ovn-central/1 ")
	assert.NotContains(t, left, "ovn-central/2 ")

	for _, wrong := range []string{
		"add-unit ovn-chassis", "config ovn-chassis a=b", "config ovn-central", "config ovn-central a", "power-on",
	} {
		_, _, code := s.try(wrong)
		assert.Equal(t, exitUsage, code, wrong)
	}
}

// A person sees the hooks that run; a script sees them only with --verbose.
func TestGlobal_shows_hooks_on_terminal(t *testing.T) {
	const hook, logged = "ovn-central/0 install\n", "ovn-central/0 install: INFO install\n"
	for want, g := range map[string]*global{"": {}, hook: {terminal: true}, hook + logged: {verbose: true}} {
		var shown strings.Builder
		g.errors = &shown
		for _, line := range []string{hook, logged} {
			_, err := g.Write([]byte(line))
			require.NoError(t, err)
		}
		assert.Equal(t, want, shown.String())
	}
}
