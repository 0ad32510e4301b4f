package finding

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// ReasonCode names the text of a reason.
type ReasonCode string

// textOf returns the text of a reason, with values in braces. A code of another release has none.
func textOf(code ReasonCode) string {
	return cmp.Or(clusterReasons[code], gatewayReasons[code], machineReasons[code], operationReasons[code],
		upgradeReasons[code], string(code))
}

// Reason is an observed reason: a code, and the values that its text has. The zero value is no reason.
type Reason struct {
	Code ReasonCode
	// Name is a unit, a member, a chassis or the like; Value is any other text.
	Name  string `json:",omitempty"`
	Value string `json:",omitempty"`
	// Count is a number, if necessary out of Total.
	Count int `json:",omitempty"`
	Total int `json:",omitempty"`
	// Age is a time that has passed, Limit its limit.
	Age   time.Duration `json:",omitempty"`
	Limit time.Duration `json:",omitempty"`
	// Because has the reasons for this one.
	Because []Reason `json:",omitempty"`
}

// Because returns a reason without values, as the list that [Args] has.
func Because(code ReasonCode) []Reason { return []Reason{{Code: code}} }

// Args returns arguments with this reason alone; without any if there is no reason. Another program's text is the
// detail.
func (r Reason) Args() Args {
	switch {
	case r.IsZero():
		return Args{}
	case r.Code == Quoted && len(r.Because) == 0:
		return Args{Detail: Said(r.Value)}
	}
	return Args{Reasons: []Reason{r}}
}

// Quote returns another program's text as a reason; no reason if the text is empty.
func Quote(text string) Reason {
	if text == "" {
		return Reason{}
	}
	return Reason{Code: Quoted, Value: text}
}

// ReasonError is a reason as an error.
type ReasonError struct{ Reason Reason }

func (e *ReasonError) Error() string { return e.Reason.String() }

// Err returns the reason as an error, a [*ReasonError].
func (r Reason) Err() error { return &ReasonError{r} }

// Cause returns the reason of a [*ReasonError], or the text of another error as [Quote] does.
func Cause(err error) Reason {
	if e, is := err.(*ReasonError); is { //nolint:errorlint // the text of an error that wraps it has more
		return e.Reason
	}
	return Quote(err.Error())
}

// IsZero reports whether there is no reason.
func (r Reason) IsZero() bool { return r.Code == "" }

// String returns the text: of a reason with others, its own text and then theirs.
func (r Reason) String() string {
	text := textOf(r.Code)
	if len(r.Because) == 0 && !strings.Contains(text, "{") {
		return text
	}
	because := joined(r.Because, "; ")
	if r.Code == ChassisCount {
		because = ofSeveral(because)
	}
	if because != "" && !strings.Contains(text, "{because}") && !strings.Contains(text, "{list}") {
		text += ": {because}"
	}
	var filled strings.Builder // a plan has many thousand reasons; a Replacer costs more than their texts
	for {
		before, rest, found := strings.Cut(text, "{")
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		filled.WriteString(r.argument(name, because))
		text = after
	}
}

// argument returns the text of the argument with this name in braces.
func (r Reason) argument(name, because string) string {
	switch name {
	case "name":
		return r.Name
	case "value":
		return r.Value
	case "count":
		return fmt.Sprint(r.Count)
	case "total":
		return fmt.Sprint(r.Total)
	case "entries":
		return entries(r.Count)
	case "tally":
		return Tally{r.Count, r.Total}.String()
	case "age":
		return brief(r.Age)
	case "limit":
		return brief(r.Limit)
	case "after":
		return r.Age.String()
	case "milliseconds":
		return fmt.Sprint(r.Limit.Milliseconds())
	case "because":
		return because
	case "list":
		return joined(r.Because, ", ")
	}
	return "{" + name + "}"
}

// Texts returns the texts of reasons, with a semicolon between two.
func Texts(all []Reason) string { return joined(all, "; ") }

func joined(all []Reason, separator string) string {
	texts := make([]string, len(all))
	for i, r := range all {
		texts[i] = r.String()
	}
	return strings.Join(texts, separator)
}

// ofSeveral turns a reason about one chassis into a reason about several: `it is cordoned` becomes `cordoned`.
func ofSeveral(text string) string {
	for _, subject := range []string{"it is ", "it has ", "its ", "it "} {
		if rest, found := strings.CutPrefix(text, subject); found {
			return rest
		}
	}
	return text
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func brief(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
