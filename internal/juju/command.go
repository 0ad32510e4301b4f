package juju

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

// patience is the --wait of actions that may take longer than the minute for which `juju run` waits by default (Init in
// cmd/juju/action/common.go of Juju). A drain has an hour by default, the other steps of a decommission take longer.
var patience = map[string]string{
	"backup": "30m", "recover": "30m", "restore": "30m", "drain": "2h", "decommission": "3h",
}

// long reports whether an action needs its patience: a dry run doesn't, nor does the end of a recovery.
func long(c command.Command) bool {
	return c.Action == "backup" || slices.ContainsFunc(c.Params, func(p command.Param) bool {
		return p.Key == "i-really-mean-it"
	})
}

// Render returns the line that a person types, in the syntax of this version of Juju, to run c and wait
// for its results. An unknown version counts as 3.x. The zero command is an empty line.
// Source: cmd/juju/action run.go (3.x) and runaction.go (2.9) of Juju.
func (v Version) Render(c command.Command) string {
	switch {
	case c.Action == "" && len(c.Words) == 0:
		return ""
	case c.Direct:
		return shell.Line(c.Words...)
	case c.Action == "" && c.Unit != "":
		return shell.Line(append([]string{"juju", "ssh", c.Unit}, c.Words...)...)
	case c.Action == "":
		return shell.Line(append([]string{"juju"}, c.Words...)...)
	}
	old := v.Major == 2
	words := []string{"juju", "run"}
	if old {
		words[1] = "run-action"
	}
	words = append(words, c.Unit, c.Action)
	for _, p := range c.Params {
		words = append(words, p.Key+"="+typed(p))
	}
	switch wait := patience[c.Action]; {
	case old:
		words = append(words, "--wait")
	case wait != "" && long(c):
		words = append(words, "--wait="+wait)
	}
	return strings.Join(words, " ")
}

// Integrate returns the command of juju that relates two applications: integrate since 3.0,
// in 2.9 add-relation, or relate for short. Source: cmd/juju/application/integrate.go
// and addrelation.go of Juju.
func (v Version) Integrate() string {
	if v.Major == 2 {
		return "relate"
	}
	return "integrate"
}

// bare matches values that need no quotes in a shell and in YAML.
var bare = regexp.MustCompile(`^[A-Za-z0-9/_]([A-Za-z0-9._/:+,@=-]*[A-Za-z0-9._/+,@=-])?$`)

// plain reports whether a value needs no quotes in YAML.
func plain(value string) bool {
	alphanumeric := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	special := func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune(" ._/+,@=;()'!?$-", r) }
	first, _ := utf8.DecodeRuneInString(value)
	return (alphanumeric(first) || first == '/' || first == '_') && !strings.HasSuffix(value, " ") &&
		!strings.ContainsFunc(value, special)
}

// number matches what some YAML parser reads as a number.
var number = regexp.MustCompile(`^[0-9]+(e[0-9]+)?$|^0b[01]+$`)

// typed quotes a value, so that shell and YAML leave it unchanged.
func typed(p command.Param) string {
	value := p.Value
	switch {
	case p.Text && number.MatchString(value):
		return shell.Quote(`"` + value + `"`)
	case bare.MatchString(value):
		return value
	case !plain(value):
		value = yamlJSON(value)
	}
	return shell.Quote(value)
}
