package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
)

// params reads an action's parameters. Juju has checked them against actions.yaml, but other clients may send any
// value. A method returns the zero value or the default if its parameter is missing or invalid; [params.err] refuses
// invalid ones.
type params struct {
	given map[string]any
	// format is the format of the results: text, yaml, json, or empty if it is missing.
	format string
	wrong  []error
}

func newParams(given map[string]any) *params {
	p := &params{given: given}
	p.format = p.oneOf("format", "text", "yaml", "json")
	return p
}

// programs reports whether the results are for programs.
func (p *params) programs() bool { return p.format == "yaml" || p.format == "json" }

// err returns the refusal of all invalid parameters that were read.
func (p *params) err() error { return errors.Join(p.wrong...) }

// refuse records that a parameter is invalid, and which values are valid.
func (p *params) refuse(key string, want finding.Reason) {
	p.wrong = append(p.wrong, p.invalid(key, want))
}

// invalid returns the refusal of a parameter, with the valid values.
func (p *params) invalid(key string, want finding.Reason, ways ...finding.Remedy) error {
	value := fmt.Sprint(p.given[key])
	if text, ok := p.given[key].(string); ok {
		value = strconv.Quote(text)
	}
	given := finding.Reason{Code: finding.GivenAs, Value: foreign.Name(value), Because: []finding.Reason{want}}
	return finding.Refuse([]finding.Finding{finding.About(finding.ParameterInvalid, key,
		finding.Args{Value: "invalid", Reasons: []finding.Reason{given}}, ways...)})
}

// oneOf reads a text that must have one of these values.
func (p *params) oneOf(key string, values ...string) string {
	text := p.text(key)
	if text != "" && !slices.Contains(values, text) {
		p.refuse(key, finding.Reason{Code: finding.TakesOneOf, Value: strings.Join(values, ", ")})
		return ""
	}
	return text
}

func (p *params) flag(key string) bool {
	value, ok := p.given[key].(bool)
	if !ok && p.given[key] != nil {
		p.refuse(key, finding.Reason{Code: finding.TakesBoolean})
	}
	return value
}

// text reads a text. If Juju has parsed it as a number, the text is Juju's form of that number.
func (p *params) text(key string) string {
	switch v := p.given[key].(type) {
	case nil:
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	default:
		p.refuse(key, finding.Reason{Code: finding.TakesText})
	}
	return ""
}

// words reads texts that are separated by spaces or commas.
func (p *params) words(key string) []string {
	return strings.FieldsFunc(p.text(key), func(c rune) bool { return c == ' ' || c == ',' })
}

// number reads a whole number between two limits.
func (p *params) number(key string, otherwise, least, most int64) int64 {
	switch v := p.given[key].(type) {
	case nil:
		return otherwise
	case json.Number:
		if n, err := v.Int64(); err == nil && n >= least && n <= most {
			return n
		}
	}
	p.refuse(key, finding.Reason{Code: finding.TakesNumber, Count: int(least), Total: int(most)})
	return 0
}

func (p *params) seconds(key string, otherwise, most time.Duration) time.Duration {
	return time.Duration(p.number(key, int64(otherwise/time.Second), 0, int64(most/time.Second))) * time.Second
}

// again reads the time of a finished recovery or restore.
func (p *params) again() time.Time {
	text := p.text("again")
	at, err := restore.ParseAgain(text)
	if text != "" && err != nil {
		p.refuse("again", finding.Reason{Code: finding.TakesAgain})
	}
	return at
}

// identity reads a server ID, which Juju may have parsed as a number.
func (p *params) identity(key string) (id raft.IDArgument, given bool) {
	switch v := p.given[key].(type) {
	case nil:
	case string:
		text := strings.TrimSpace(v)
		return raft.IDArgument{Text: text}, text != ""
	case json.Number:
		return raft.IDArgument{Text: v.String(), Number: true}, true
	default:
		p.refuse(key, finding.Reason{Code: finding.TakesServerID})
	}
	return raft.IDArgument{}, false
}

// names reads names of units and server IDs, separated by spaces or commas. Juju may have parsed a single ID as a
// number.
func (p *params) names(key string) (all []raft.IDArgument) {
	_, number := p.given[key].(json.Number)
	for _, name := range p.words(key) {
		all = append(all, raft.IDArgument{Text: name, Number: number})
	}
	return all
}

// databases returns the named database, or both if none is named.
func (p *params) databases() []ovndb.Database {
	name := p.text("database")
	for _, db := range ovndb.Databases() {
		if db.Short() == name {
			return []ovndb.Database{db}
		}
	}
	return nil
}
