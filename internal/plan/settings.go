package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Settings are the checked options of config.yaml.
type Settings struct {
	// Source is the source of packages, Overlay (ovn-source) a second source on top of it.
	Source, Overlay string
	// ElectionTimer is the election timer of both databases, InactivityProbe the probe of every listener.
	ElectionTimer, InactivityProbe time.Duration
	// AutoRestarts is false if the charm defers restarts until an operator makes them.
	AutoRestarts bool
	// ExporterChannel is the risk in the channel of the exporter's snap, without the track; empty for no exporter.
	ExporterChannel string
	// StatusFormat is the default format of the action cluster-status.
	StatusFormat string
	// NagiosContext and NagiosServiceGroups are used in the checks for NRPE.
	NagiosContext, NagiosServiceGroups string
	// Agent are the options of the unit's agent.
	Agent AgentSettings
	// Backup are the options of scheduled backups.
	Backup BackupSettings
}

// BackupSettings are the options of backups.
type BackupSettings struct {
	// Interval is the time between two backups, in whole hours; 0 turns backups off.
	Interval time.Duration
	// Keep is the number of backups to keep.
	Keep int
}

// AgentSettings are the options of the agent.
type AgentSettings struct {
	// Mode is off, advise or on.
	Mode string
	// TTL is how long the acting unit may be silent. HoldDown is how long a chassis or a gateway must keep its state
	// before the agent reacts to it.
	TTL, HoldDown time.Duration
	// Port is the port for programs on this machine.
	Port uint16
	// NeutronGateways makes the agent schedule the gateways that Neutron owns, too.
	NeutronGateways bool
	// CordonNew makes the agent cordon each chassis that can host gateways when it first appears.
	CordonNew bool
}

// Ranges of options, both ends included.
const (
	// minElectionTimer and MaxElectionTimer are the limits of the previous charm; ovsdb-server itself accepts 100 ms to
	// 10 min (raft_unixctl_change_election_timer in ovsdb/raft.c).
	minElectionTimer = time.Second
	MaxElectionTimer = 60 * time.Second
	// maxInactivityProbe is our own choice: a client that has been silent for a day is gone. 0 turns the probe off.
	maxInactivityProbe = 24 * time.Hour
	// maxBackupInterval and the limits of the number of backups are our own choice.
	maxBackupInterval = 31 * 24 * time.Hour
	maxBackups        = 1000
)

// ParseSettings checks the output of `config-get`. A missing option has no value, like an empty string in Juju.
// invalid has the value of each invalid option, and what the option takes. The settings have the defaults of these
// options (restarts are deferred), and the caller ensures that nothing acts on them. ParseSettings does not check that
// a source exists.
func ParseSettings(config map[string]any) (s Settings, invalid map[string]finding.Args) {
	p := parser{config: config, invalid: map[string]finding.Args{}}
	s = Settings{
		Source:          p.text(OptionSource),
		Overlay:         p.text(OptionOverlay),
		ElectionTimer:   p.seconds(OptionElectionTimer, 4*time.Second, minElectionTimer, MaxElectionTimer),
		InactivityProbe: p.seconds(OptionInactivityProbe, time.Minute, 0, maxInactivityProbe),
		AutoRestarts:    p.yes(OptionAutoRestarts, true),
		ExporterChannel: p.channel(OptionExporter),
		StatusFormat:    p.oneOf(OptionStatusFormat, "text", "text", "yaml", "json"),
		NagiosContext:   p.form(OptionNagiosContext, relation.IsNagiosName, finding.TakesName),
		NagiosServiceGroups: p.form(OptionNagiosServiceGroups, nagiosNames.MatchString,
			finding.TakesNames),
		Agent: AgentSettings{
			Mode:            p.oneOf(OptionAgentMode, "advise", "off", "advise", "on"),
			TTL:             p.seconds(OptionLeaseTTL, lease.DefaultTTL, lease.MinTTL, lease.MaxTTL),
			HoldDown:        p.seconds(OptionHoldDown, drift.DefaultHoldDown, 0, drift.MaxHoldDown),
			Port:            p.port(OptionAgentPort, ovndb.DefaultAgentPort),
			NeutronGateways: p.yes(OptionNeutronGateways, false),
			CordonNew:       p.yes(OptionCordonNew, false),
		},
		Backup: BackupSettings{
			Interval: time.Duration(p.number(OptionBackupInterval, 0, 0, int64(maxBackupInterval/time.Hour),
				finding.TakesHours)) * time.Hour,
			Keep: int(p.number(OptionBackupKeep, 7, 1, maxBackups, finding.TakesNumber)),
		},
	}
	return s, p.invalid
}

// Options on which something depends. If an option of the agent is invalid, the agent keeps its configuration.
const (
	OptionSource              = "source"
	OptionOverlay             = "ovn-source"
	OptionElectionTimer       = "ovsdb-server-election-timer"
	OptionInactivityProbe     = "ovsdb-server-inactivity-probe"
	OptionExporter            = "ovn-exporter-channel"
	OptionStatusFormat        = "cluster-status-format"
	OptionAutoRestarts        = "enable-auto-restarts"
	OptionBackupInterval      = "backup-interval"
	OptionBackupKeep          = "backup-keep"
	OptionNagiosContext       = "nagios_context"
	OptionNagiosServiceGroups = "nagios_servicegroups"
	OptionAgentMode           = "agent-mode"
	OptionLeaseTTL            = "leader-lease-ttl"
	OptionAgentPort           = "leader-api-port"
	OptionHoldDown            = "gateway-hold-down"
	OptionNeutronGateways     = "schedule-neutron-gateways"
	OptionCordonNew           = "agent-cordon-new-chassis"
)

// AgentOptions are the options of the agent.
var AgentOptions = []string{
	OptionAgentMode, OptionLeaseTTL, OptionAgentPort, OptionHoldDown, OptionNeutronGateways, OptionCordonNew,
}

// nagiosNames matches values that are safe in names and lines of files that Nagios and NRPE read.
var nagiosNames = regexp.MustCompile(`^[A-Za-z0-9._-]+( *, *[A-Za-z0-9._-]+)*$`)

// parser collects the reasons of all invalid options.
type parser struct {
	config  map[string]any
	invalid map[string]finding.Args
}

// fail records an invalid option, with what it takes.
func (p *parser) fail(option string, takes finding.Reason) {
	value := fmt.Sprintf("%.60v", p.config[option])
	if text, ok := p.config[option].(string); ok {
		value = fmt.Sprintf("%.60q", text)
	}
	p.invalid[option] = finding.Args{Value: value, Reasons: []finding.Reason{takes}}
}

func (p *parser) text(option string) string {
	text, ok := p.config[option].(string)
	if !ok && p.config[option] != nil {
		p.fail(option, finding.Reason{Code: finding.TakesText})
	}
	return strings.TrimSpace(text)
}

// form parses a text that is empty or matches valid.
func (p *parser) form(option string, valid func(string) bool, takes finding.ReasonCode) string {
	text := p.text(option)
	if text != "" && !valid(text) {
		p.fail(option, finding.Reason{Code: takes})
		return ""
	}
	return text
}

func (p *parser) yes(option string, fallback bool) bool {
	if p.config[option] == nil {
		return fallback
	}
	yes, ok := p.config[option].(bool)
	if !ok {
		p.fail(option, finding.Reason{Code: finding.TakesBoolean})
	}
	return yes
}

func (p *parser) seconds(option string, fallback, least, most time.Duration) time.Duration {
	return time.Duration(p.number(option, int64(fallback/time.Second), int64(least/time.Second), int64(most/time.Second),
		finding.TakesSeconds)) * time.Second
}

func (p *parser) number(option string, fallback, least, most int64, takes finding.ReasonCode) int64 {
	valid := func(n int64) bool { return n >= least && n <= most }
	return p.validNumber(option, fallback, valid, finding.Reason{Code: takes, Count: int(least), Total: int(most)})
}

func (p *parser) validNumber(option string, fallback int64, valid func(int64) bool, takes finding.Reason) int64 {
	if p.config[option] == nil {
		return fallback
	}
	number, ok := p.config[option].(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 32)
	if !ok || err != nil || !valid(n) {
		p.fail(option, takes)
		return fallback
	}
	return n
}

func (p *parser) oneOf(option, fallback string, values ...string) string {
	text := p.text(option)
	switch {
	case text == "":
		return fallback
	case !slices.Contains(values, text):
		p.fail(option, finding.Reason{Code: finding.TakesOneOf, Value: strings.Join(values, ", ")})
		return fallback
	}
	return text
}

// risks are the risks of a snap's channel (snapcraft's "Channels").
var risks = []string{"stable", "candidate", "beta", "edge"}

// channel parses a channel: a risk, or a track and a risk separated by a slash. It returns the risk, as the previous
// charm read the option; empty means none.
func (p *parser) channel(option string) string {
	text := p.text(option)
	risk := text[strings.LastIndex(text, "/")+1:]
	if text != "" && !slices.Contains(risks, risk) {
		p.fail(option, finding.Reason{Code: finding.TakesChannel, Value: strings.Join(risks, ", ")})
		return risks[0]
	}
	return risk
}

// The permitted ports need no privileges.
const (
	minPort = 1024
	maxPort = 65535
)

func (p *parser) port(option string, fallback uint16) uint16 {
	free := func(n int64) bool {
		return n >= minPort && n <= maxPort && !slices.Contains(ovndb.OwnPorts, uint16(n))
	}
	takes := finding.Reason{Code: finding.TakesPort, Count: minPort, Total: maxPort}
	return uint16(p.validNumber(option, int64(fallback), free, takes))
}
