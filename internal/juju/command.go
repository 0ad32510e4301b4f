package juju

import (
	"regexp"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

// Command is an action that a person is told to run.
type Command struct {
	// Unit and Action are names by Juju's rules, which need no quotes.
	Unit, Action string
	// Params come in the order in which they are to be read.
	Params []Param
}

// Param is one parameter of an action. Juju reads Value as YAML: `true` is a
// boolean and 3974 a number, as the schemas of our actions allow.
type Param struct {
	Key, Value string
	// Text says that Juju is to read Value as a text, even where YAML would take
	// it for a number: 0010.
	Text bool
}

// Render is the line that a person types, in the syntax of this version of Juju,
// to run c and wait for its results. An unknown version is taken for 3.x.
// Source: cmd/juju/action run.go (3.x) and runaction.go (2.9) of Juju.
func (v Version) Render(c Command) string {
	old := v.Major == 2
	words := []string{"juju", "run"}
	if old {
		words[1] = "run-action"
	}
	words = append(words, c.Unit, c.Action)
	for _, p := range c.Params {
		words = append(words, p.Key+"="+p.typed())
	}
	if old {
		words = append(words, "--wait")
	}
	return strings.Join(words, " ")
}

// Integrate is the command of juju that relates two applications: integrate since 3.0,
// in 2.9 add-relation, or relate for short. Source: cmd/juju/application/integrate.go
// and addrelation.go of Juju.
func (v Version) Integrate() string {
	if v.Major == 2 {
		return "relate"
	}
	return "integrate"
}

// RemoveUnit is the line that removes a unit, the same in 2.9 and 3.x.
func RemoveUnit(unit string) string {
	return "juju remove-unit " + unit
}

// Resolved is the line that ends the error state of a unit, the same in 2.9 and
// 3.x: the failed hook is run again, or with noRetry taken as done.
func Resolved(unit string, noRetry bool) string {
	if noRetry {
		return "juju resolved --no-retry " + unit
	}
	return "juju resolved " + unit
}

// bare values mean themselves to a shell and to YAML, plain ones to YAML. What
// is not surely so gets quotes.
var (
	bare  = regexp.MustCompile(`^[A-Za-z0-9/_]([A-Za-z0-9._/:+,@=-]*[A-Za-z0-9._/+,@=-])?$`)
	plain = regexp.MustCompile(`^[\pL\pN/_]([\pL\pN ._/+,@=;()'!?$-]*[\pL\pN._/+,@=;()'!?$-])?$`)
)

// number is what some YAML reader takes for one.
var number = regexp.MustCompile(`^[0-9]+(e[0-9]+)?$|^0b[01]+$`)

func (p Param) typed() string {
	if p.Text && number.MatchString(p.Value) {
		return shell.Quote(`"` + p.Value + `"`)
	}
	return typed(p.Value)
}

// typed is value as it is typed, so that shell and YAML leave it what it is.
func typed(value string) string {
	if bare.MatchString(value) {
		return value
	}
	if !plain.MatchString(value) {
		value = yamlJSON(value)
	}
	return shell.Quote(value)
}
