package charm_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

func options(t *testing.T) *charm.Config {
	t.Helper()
	return readCharm(t).Config()
}

func TestOptions_are_described_with_range(t *testing.T) {
	for name, o := range options(t).Options {
		assert.True(t, strings.HasSuffix(strings.TrimSpace(o.Description), "."), name)
	}
	for name, bad := range map[string]string{"ovsdb-server-election-timer": "0", "ovsdb-server-inactivity-probe": "-1", "leader-lease-ttl": "1", "gateway-hold-down": "86401", "backup-interval": "745", "backup-keep": "0"} {
		_, invalid := set(t, map[string]string{name: bad})
		require.Len(t, invalid[name].Reasons, 1, name)
		takes := invalid[name].Reasons[0]
		described := strings.Join(strings.Fields(options(t).Options[name].Description), " ")
		assert.Contains(t, described, fmt.Sprintf("%d to %d", takes.Count, takes.Total))
	}
}

// set returns the charm's settings for options that an operator has typed after `juju config`, as parsed by Juju's
// own parser and then printed by config-get.
func set(t *testing.T, typed map[string]string) (plan.Settings, map[string]finding.Args) {
	t.Helper()
	config := options(t)
	parsed, err := config.ParseSettingsStrings(typed)
	require.NoError(t, err)
	values := config.DefaultSettings()
	maps.Copy(values, parsed)
	text, err := json.Marshal(values)
	require.NoError(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var given map[string]any
	require.NoError(t, decoder.Decode(&given))
	maps.DeleteFunc(given, func(_ string, value any) bool { return value == nil })
	return plan.ParseSettings(given)
}

func TestConfig_defaults_are_accepted(t *testing.T) {
	settings, invalid := set(t, nil)
	require.Empty(t, invalid)
	assert.Equal(t, options(t).Options["source"].Default, settings.Source)
	assert.Equal(t, fmt.Sprintf("%vs", options(t).Options["ovsdb-server-election-timer"].Default), settings.ElectionTimer.String())
	assert.Equal(t, options(t).Options["enable-auto-restarts"].Default, settings.AutoRestarts)
}

// Each option takes effect: no two values of it give the same settings.
func TestOptions_are_all_read(t *testing.T) {
	others := map[string]string{
		"source": "cloud:jammy-caracal", "ovn-source": "ppa:owner/name", "ovsdb-server-election-timer": "8", "ovsdb-server-inactivity-probe": "0",
		"enable-auto-restarts": "false", "ovn-exporter-channel": "23.03/edge", "nagios_context": "cloud1", "nagios_servicegroups": "ovn,databases",
		"agent-mode": "on", "leader-lease-ttl": "9", "leader-api-port": "16411", "gateway-hold-down": "0", "schedule-neutron-gateways": "true", "agent-cordon-new-chassis": "true",
		"cluster-status-format": "yaml", "backup-interval": "6", "backup-keep": "28",
	}
	fallback, _ := set(t, nil)
	// The option snapd_refresh is not used, by its description.
	read := slices.DeleteFunc(slices.Sorted(maps.Keys(options(t).Options)), func(name string) bool { return name == "snapd_refresh" })
	require.Equal(t, read, slices.Sorted(maps.Keys(others)))
	for name, typed := range others {
		settings, invalid := set(t, map[string]string{name: typed})
		assert.Empty(t, invalid, name)
		assert.NotEqual(t, fallback, settings, name)
	}
}
