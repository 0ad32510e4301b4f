package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Settings are the options of config.yaml, checked.
type Settings struct {
	// Source is where packages come from, Overlay (ovn-source) what lies over it.
	Source, Overlay string
	// ElectionTimer is that of both databases; InactivityProbe that of every
	// listener.
	ElectionTimer, InactivityProbe time.Duration
	// AutoRestarts is false where the operator restarts services by himself.
	AutoRestarts bool
	// ExporterChannel is the channel of the exporter's snap; empty for none.
	ExporterChannel string
	// NagiosContext and NagiosServiceGroups go into the checks for NRPE.
	NagiosContext, NagiosServiceGroups string
}

// The ranges of options, both ends included.
const (
	// MinElectionTimer and MaxElectionTimer are those of the charm before this
	// one; ovsdb-server itself takes 100 ms to 10 min (raft_unixctl_change_election_timer
	// in ovsdb/raft.c).
	MinElectionTimer = time.Second
	MaxElectionTimer = 60 * time.Second
	// MaxInactivityProbe is our own choice: a client that has been silent for a day
	// is gone. 0 turns the probe off.
	MaxInactivityProbe = 24 * time.Hour
)

// OptionError says which option has a value that can't be used.
type OptionError struct {
	Option string
	Value  any
	// Want is the range, or the form.
	Want string
}

// Error is one line, with the option, the value and what it may be.
func (e *OptionError) Error() string {
	value := fmt.Sprintf("%.60v", e.Value)
	if text, ok := e.Value.(string); ok {
		value = fmt.Sprintf("%.60q", text)
	}
	return fmt.Sprintf("option %s is %s; it must be %s", e.Option, value, e.Want)
}

// OptionErrors are all options with values that can't be used, in the order in which
// they are read.
type OptionErrors []*OptionError

// Error is all of them in one line.
func (e OptionErrors) Error() string {
	texts := make([]string, len(e))
	for i, option := range e {
		texts[i] = option.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives each of them.
func (e OptionErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, option := range e {
		all[i] = option
	}
	return all
}

// ParseSettings checks what `config-get` gives. An option that is not there has
// no value, which is what an empty string is to Juju. The error is
// [OptionErrors]; an option in it has its default in the settings (restarts are
// held back), and the caller sees to it that nothing is done by that. Whether a
// source exists is not known here.
func ParseSettings(config map[string]any) (Settings, error) {
	p := parser{config: config}
	s := Settings{
		Source:              p.text(OptionSource),
		Overlay:             p.text(OptionOverlay),
		ElectionTimer:       p.seconds(OptionElectionTimer, 4*time.Second, MinElectionTimer, MaxElectionTimer),
		InactivityProbe:     p.seconds(OptionInactivityProbe, time.Minute, 0, MaxInactivityProbe),
		AutoRestarts:        p.yes("enable-auto-restarts", true),
		ExporterChannel:     p.text(OptionExporter),
		NagiosContext:       p.text("nagios_context"),
		NagiosServiceGroups: p.text("nagios_servicegroups"),
	}
	if len(p.errs) > 0 {
		return s, p.errs
	}
	return s, nil
}

// Options of which a value that can't be used stops something.
const (
	OptionSource          = "source"
	OptionOverlay         = "ovn-source"
	OptionElectionTimer   = "ovsdb-server-election-timer"
	OptionInactivityProbe = "ovsdb-server-inactivity-probe"
	OptionExporter        = "ovn-exporter-channel"
)

// parser keeps the errors of all options.
type parser struct {
	config map[string]any
	errs   OptionErrors
}

func (p *parser) fail(option string, want string) {
	p.errs = append(p.errs, &OptionError{Option: option, Value: p.config[option], Want: want})
}

func (p *parser) text(option string) string {
	value, found := p.config[option]
	if !found || value == nil {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		p.fail(option, "a text")
	}
	return strings.TrimSpace(text)
}

func (p *parser) yes(option string, fallback bool) bool {
	value, found := p.config[option]
	if !found || value == nil {
		return fallback
	}
	yes, ok := value.(bool)
	if !ok {
		p.fail(option, "true or false")
		return false
	}
	return yes
}

func (p *parser) seconds(option string, fallback, least, most time.Duration) time.Duration {
	value, found := p.config[option]
	if !found || value == nil {
		return fallback
	}
	want := fmt.Sprintf("%d to %d, in seconds", int(least.Seconds()), int(most.Seconds()))
	number, ok := value.(json.Number)
	if !ok {
		p.fail(option, want)
		return fallback
	}
	n, err := strconv.ParseInt(string(number), 10, 32)
	d := time.Duration(n) * time.Second
	if err != nil || d < least || d > most {
		p.fail(option, want)
		return fallback
	}
	return d
}
