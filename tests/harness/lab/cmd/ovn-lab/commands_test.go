package main

import (
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
	assert.Contains(t, s.run("status"), "nb:down")
	s.run("power-on ovn-central/0")
	assert.Contains(t, s.run("status"), "nb:up")
	s.run("add-unit ovn-central")
	assert.Contains(t, s.run("status"), "ovn-central/1 ")

	for _, wrong := range []string{
		"add-unit ovn-chassis", "config ovn-chassis a=b", "config ovn-central", "config ovn-central a", "power-on",
	} {
		_, _, code := s.try(wrong)
		assert.Equal(t, exitUsage, code, wrong)
	}
}
