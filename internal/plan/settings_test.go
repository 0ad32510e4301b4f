package plan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// given decodes output of `config-get --format=json`.
func given(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var config map[string]any
	require.NoError(t, decoder.Decode(&config))
	return config
}

func TestParseSettings(t *testing.T) {
	t.Parallel()
	with := func(change func(*plan.Settings)) plan.Settings {
		s := plan.Settings{
			ElectionTimer: 4 * time.Second, InactivityProbe: time.Minute, AutoRestarts: true, StatusFormat: "text",
			Agent:  plan.AgentSettings{Mode: "advise", TTL: 5 * time.Second, HoldDown: 2 * time.Minute, Port: 16401},
			Backup: plan.BackupSettings{Keep: 7},
		}
		change(&s)
		return s
	}
	timer := func(d time.Duration) plan.Settings { return with(func(s *plan.Settings) { s.ElectionTimer = d }) }
	probe := func(d time.Duration) plan.Settings { return with(func(s *plan.Settings) { s.InactivityProbe = d }) }
	channel := func(risk string) plan.Settings { return with(func(s *plan.Settings) { s.ExporterChannel = risk }) }
	defaults := with(func(*plan.Settings) {})
	for config, want := range map[string]plan.Settings{
		`{}`: defaults,
		`{"source": null, "ovsdb-server-election-timer": null, "enable-auto-restarts": null}`: defaults,
		`{"source": "caracal", "ovn-source": "cloud:focal-ovn-22.03", "ovsdb-server-election-timer": 8,
		  "ovsdb-server-inactivity-probe": 30, "enable-auto-restarts": false, "ovn-exporter-channel": "edge",
		  "cluster-status-format": "yaml", "nagios_context": "juju", "nagios_servicegroups": "ovn,db",
		  "agent-mode": "on", "leader-lease-ttl": 300, "gateway-hold-down": 0, "leader-api-port": 1024,
		  "schedule-neutron-gateways": true, "agent-cordon-new-chassis": true,
		  "backup-interval": 744, "backup-keep": 1000}`: {
			Source: "caracal", Overlay: "cloud:focal-ovn-22.03", ElectionTimer: 8 * time.Second,
			InactivityProbe: 30 * time.Second, ExporterChannel: "edge", StatusFormat: "yaml", NagiosContext: "juju",
			NagiosServiceGroups: "ovn,db",
			Agent: plan.AgentSettings{
				Mode: "on", TTL: 5 * time.Minute, Port: 1024, NeutronGateways: true, CordonNew: true,
			},
			Backup: plan.BackupSettings{Interval: 31 * 24 * time.Hour, Keep: 1000},
		},
		`{"source": " ppa:owner/name\n"}`:          with(func(s *plan.Settings) { s.Source = "ppa:owner/name" }),
		`{"ovn-exporter-channel": "  "}`:           defaults,
		`{"ovn-exporter-channel": "candidate"}`:    channel("candidate"),
		`{"ovn-exporter-channel": "latest/beta"}`:  channel("beta"), // as the Python charm
		`{"ovn-exporter-channel": "0.10/stable"}`:  channel("stable"),
		`{"ovsdb-server-election-timer": 1}`:       timer(time.Second),
		`{"ovsdb-server-election-timer": 60}`:      timer(time.Minute),
		`{"ovsdb-server-inactivity-probe": 0}`:     probe(0),
		`{"ovsdb-server-inactivity-probe": 86400}`: probe(24 * time.Hour),
		`{"mtu": 9000}`: defaults, // an option of a later charm
	} {
		got, invalid := plan.ParseSettings(given(t, config))
		assert.Empty(t, invalid, config)
		assert.Equal(t, want, got, config)
	}
}

func TestParseSettings_invalid(t *testing.T) {
	t.Parallel()
	for option, tt := range map[string]struct {
		want string
		bad  []string
	}{
		"ovsdb-server-election-timer": {
			"TAKES_SECONDS 1 60", []string{
				`0`, `61`, `-1`, `4.0`, `4.5`, `1e1`, `"4"`, `true`, `[4]`, `{}`, `""`,
				`99999999999999999999`, `4294967300`, `-9223372036854775808`,
			},
		},
		"ovsdb-server-inactivity-probe": {
			"TAKES_SECONDS 86400", []string{`-1`, `86401`, `60.0`, `6e1`, `"60"`, `false`, `2147483648`, `18446744073709551616`},
		},
		"cluster-status-format":     {"TAKES_ONE_OF text, yaml, json", []string{`"YAML"`, `"x"`}},
		"enable-auto-restarts":      {"TAKES_BOOLEAN", []string{`"true"`, `"yes,\nno"`, `1`, `0`, `[]`}},
		"source":                    {"TAKES_TEXT", []string{`1`, `true`, `["distro"]`}},
		"ovn-source":                {"TAKES_TEXT", []string{`22.03`}},
		"ovn-exporter-channel":      {"TAKES_CHANNEL stable, candidate, beta, edge", []string{`"23.03"`, `"edge/x"`, `"/"`}},
		"nagios_context":            {"TAKES_TEXT", []string{`{}`}},
		"nagios_servicegroups":      {"TAKES_TEXT", []string{`0`}},
		"agent-mode":                {"TAKES_ONE_OF off, advise, on", []string{`"On"`, `"true"`}},
		"leader-lease-ttl":          {"TAKES_SECONDS 2 300", []string{`1`, `301`, `5.0`}},
		"gateway-hold-down":         {"TAKES_SECONDS 86400", []string{`-1`, `86401`}},
		"leader-api-port":           {"TAKES_PORT 1024 65535", []string{`80`, `65536`, `16402`, `6641`, `"16401"`}},
		"schedule-neutron-gateways": {"TAKES_BOOLEAN", []string{`"yes"`}},
		"agent-cordon-new-chassis":  {"TAKES_BOOLEAN", []string{`1`}},
		"backup-interval":           {"TAKES_HOURS 744", []string{`-1`, `745`, `"6h"`, `1.5`}},
		"backup-keep":               {"TAKES_NUMBER 1 1000", []string{`0`, `1001`, `true`}},
	} {
		for _, bad := range tt.bad {
			t.Run(option+" "+bad, func(t *testing.T) {
				t.Parallel()
				config := given(t, `{"`+option+`": `+bad+`}`)
				got, invalid := plan.ParseSettings(config)
				require.Len(t, invalid, 1)
				assert.Equal(t, tt.want, findingtest.Reasons(invalid[option].Reasons...))
				assert.NotContains(t, invalid[option].Value, "\n")
				defaults, _ := plan.ParseSettings(nil)
				defaults.AutoRestarts = option != "enable-auto-restarts" // deferred, rather than automatic
				if option == "ovn-exporter-channel" {
					defaults.ExporterChannel = "stable"
				}
				assert.Equal(t, defaults, got)
			})
		}
	}
}

// The options are written into files that root's programs read.
func TestParseSettings_Nagios_options(t *testing.T) {
	t.Parallel()
	for option, tt := range map[string]struct {
		takes finding.ReasonCode
		bad   []string
	}{
		"nagios_context": {
			finding.TakesName, []string{"a\ncommand[x]=/bin/sh", "a/b", "../b", "a b", "a,b", "\x1b"},
		},
		"nagios_servicegroups": {finding.TakesNames, []string{"a\ncommand[x]=/bin/sh", "a,,b", "a;b", "a, b\r"}},
	} {
		for _, value := range tt.bad {
			s, invalid := plan.ParseSettings(map[string]any{option: value + "x"})
			assert.Equal(t, finding.Because(tt.takes), invalid[option].Reasons)
			assert.Empty(t, s.NagiosContext+s.NagiosServiceGroups)
		}
	}
	s, invalid := plan.ParseSettings(
		map[string]any{"nagios_context": "net-1.prod_a", "nagios_servicegroups": "ovn, db ,x"},
	)
	assert.Empty(t, invalid)
	assert.Equal(t, "net-1.prod_a ovn, db ,x", s.NagiosContext+" "+s.NagiosServiceGroups)
}
