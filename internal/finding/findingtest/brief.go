// Package findingtest formats findings for tests: by codes and values, without the catalogue's texts.
package findingtest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Brief formats a finding in one line: severity, code, subject, the arguments that are set, each remedy after an arrow,
// then the causes. It panics if a command of a remedy can't be typed as the product prints it.
func Brief(f finding.Finding) string {
	words := []string{f.Severity.String(), string(f.Code)}
	if subject := f.Subject.String(); subject != "" {
		words = append(words, subject)
	}
	args := reflect.ValueOf(f.Args)
	for i := range args.NumField() {
		name, value := args.Type().Field(i).Name, args.Field(i)
		switch {
		case value.IsZero():
		case name == "Reasons":
			words = append(words, name+"="+Reasons(f.Args.Reasons...))
		case name == "After":
			words = append(words, fmt.Sprintf("%s=%d/%d", name, f.Args.After.Up, f.Args.After.Members))
		default:
			words = append(words, fmt.Sprintf("%s=%v", name, value))
		}
	}
	for _, r := range f.Remedies {
		MustType(append([]command.Command{r.Command}, r.Then...)...)
		words = append(words, "->")
		if r.When != "" {
			words = append(words, string(r.When)+":")
		}
		for _, c := range append([]command.Command{r.Command}, r.Then...) {
			words = append(words, commandWords(c)...)
		}
		if r.Deed != "" {
			words = append(words, string(r.Deed))
		}
		if r.Unit != "" {
			words = append(words, "{unit="+r.Unit+"}")
		}
	}
	for _, cause := range f.Causes {
		words = append(words, "<- "+Brief(cause))
	}
	return strings.Join(words, " ")
}

// Reasons formats reasons, with a semicolon between two: the code, the values that are set, then the reasons for it in
// parentheses.
func Reasons(all ...finding.Reason) string {
	texts := make([]string, len(all))
	for i, r := range all {
		words := []string{string(r.Code)}
		for _, value := range []any{r.Name, r.Value, r.Count, r.Total, r.Age, r.Limit} {
			if !reflect.ValueOf(value).IsZero() {
				words = append(words, fmt.Sprint(value))
			}
		}
		if len(r.Because) > 0 {
			words = append(words, "("+Reasons(r.Because...)+")")
		}
		texts[i] = strings.Join(words, " ")
	}
	return strings.Join(texts, "; ")
}

// All formats findings, in their order.
func All(findings []finding.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, Brief(f))
	}
	return all
}

// Codes returns the subject and the code of each reason of a refusal: `nb NO_LEADER`.
func Codes(err error) (all []string) {
	for _, f := range finding.Reasons(err) {
		all = append(all, strings.TrimLeft(f.Subject.String()+" "+string(f.Code), " "))
	}
	return all
}

// Briefs formats the reasons of a refusal, a line each.
func Briefs(err error) string {
	var b strings.Builder
	for _, f := range finding.Reasons(err) {
		b.WriteString(Brief(f) + "\n")
	}
	return b.String()
}

func commandWords(c command.Command) (words []string) {
	if c.Action != "" {
		words = append(words, c.Unit, c.Action)
	}
	for _, p := range c.Params {
		words = append(words, p.Key+"="+p.Value)
	}
	if c.Action == "" && c.Unit != "" {
		words = append(words, "ssh", c.Unit)
	}
	return append(words, c.Words...)
}
