// Package finding defines the findings about an application: a catalogue of codes with their texts, and findings with a
// subject, arguments and remedies. It is pure. Packages that judge return findings, package present renders them.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// String returns the name used in documents for programs.
func (s Severity) String() string {
	return [...]string{"info", "warning", "waiting", "error"}[s]
}

// Subject is the object of a finding.
type Subject struct {
	// Databases are the affected databases, nb first; empty if there are none.
	Databases []ovndb.Database
	// Name is the unit, the member, the option or the node; empty if the finding is about the databases or
	// about the unit that reports it.
	Name string
}

// String returns the form that metrics use: the databases, then the name.
func (s Subject) String() string {
	words := make([]string, 0, len(s.Databases)+1)
	for _, db := range s.Databases {
		words = append(words, db.Short())
	}
	if s.Name != "" {
		words = append(words, s.Name)
	}
	return strings.Join(words, " ")
}

// Args are the arguments of a finding. The line of an entry shows which ones it uses.
type Args struct {
	// Unit and Units are other units than the subject.
	Unit  string
	Units []string
	// Cluster and Other are IDs of clusters, in brief.
	Cluster, Other string
	Path, Service  string
	Address        string
	Version        string
	// Value is a text from elsewhere, such as an option's value or the error of a step.
	Value string
	// Count is a number out of Total.
	Count, Total int
	// After is the size of the cluster after a change.
	After Tally
	// Member is the target of a change, Members are the candidates if the target is ambiguous. Down are the members that
	// are down, OneWay the members that are not connected in both directions.
	Member                Server
	Members, Down, OneWay []Server
	Duration              time.Duration
	Time                  time.Time
	// Detail is a text from elsewhere, such as another program's error, or a list of names.
	Detail Words
	// Reasons are the observed reasons and numbers.
	Reasons []Reason `json:",omitempty"`
}

// Tally is the number of a cluster's members that are up.
type Tally struct{ Up, Members int }

// String returns the numbers for people, with the majority that is needed.
func (t Tally) String() string {
	return fmt.Sprintf("%d of %d up, %d needed", t.Up, t.Members, t.Members/2+1)
}

// Server is a member: the known part of its ID, its address, and its unit or a former unit. Reason is why it counts as
// down.
type Server struct {
	ID, Address, Unit string
	Reason            Reason `json:",omitzero"`
}

// Short returns the first four digits of the ID, with the unit.
func (s Server) Short() string {
	short := s.ID[:min(len(s.ID), 4)]
	if s.Unit != "" {
		short += " (" + s.Unit + ")"
	}
	return short
}

// String returns Short with the address, if that is known.
func (s Server) String() string { return strings.TrimSuffix(s.Short()+" at "+s.Address, " at ") }

func servers(all []Server, why bool) string {
	var words []string
	for _, s := range all {
		text := s.String()
		if why && !s.Reason.IsZero() {
			text += " (" + s.Reason.String() + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// Finding is one fact that an operator should know.
type Finding struct {
	Code     Code
	Severity Severity
	Subject  Subject
	Args     Args
	// Since is the time when the finding was first seen; zero if unknown.
	Since time.Time
	// Remedies are the commands and deeds that end the finding, the best first. A finding that ends by itself has none.
	Remedies []Remedy
	// Causes are the findings that cause this one, without their remedies.
	Causes []Finding
	// each has the details of each database if [Sort] has merged several findings.
	each []string
}

// New returns a finding about the subject; the zero subject is the reporting unit.
func New(code Code, subject Subject, args Args, remedies ...Remedy) Finding {
	return Finding{Code: code, Severity: Lookup(code).Severity, Subject: subject, Args: args, Remedies: remedies}
}

// About returns a finding about the named subject.
func About(code Code, name string, args Args, remedies ...Remedy) Finding {
	return New(code, Subject{Name: name}, args, remedies...)
}

// Of returns a finding about one database.
func Of(code Code, db ovndb.Database, args Args, remedies ...Remedy) Finding {
	return New(code, Subject{Databases: []ovndb.Database{db}}, args, remedies...)
}

// As returns the finding with a different severity from the catalogue's.
func (f Finding) As(severity Severity) Finding {
	f.Severity = severity
	return f
}

// Because adds causes, and their remedies, each once.
func (f Finding) Because(causes ...Finding) Finding {
	ways := map[string]bool{}
	for _, cause := range causes {
		for _, r := range cause.Remedies {
			if r.Unit == "" {
				r.Unit = cause.Args.Unit
			}
			if key := fmt.Sprintf("%s %s %+v", cause.Condition(r), cause.Deed(r), r.Command); !ways[key] {
				ways[key] = true
				f.Remedies = append(f.Remedies, r)
			}
		}
		cause.Remedies = nil
		f.Causes = append(f.Causes, cause)
	}
	return f
}

// Line returns the problem in one line, without details: `nb, sb: no quorum`. A line with a name and no database
// concerns both databases.
func (f Finding) Line() string {
	line := f.expand(Lookup(f.Code).Line)
	if n := len(f.Subject.Databases); n == 0 || f.Subject.Name != "" && n == len(ovndb.Databases()) {
		return line
	}
	return names(f.Subject.Databases) + ": " + line
}

// Message returns the line with the details in parentheses.
func (f Finding) Message() string {
	if details := f.Details(); len(details) > 0 {
		return f.Line() + " (" + strings.Join(details, "; ") + ")"
	}
	return f.Line()
}

// Details returns the observed details and the causes, a text for each database if they differ.
func (f Finding) Details() []string {
	if len(f.each) > 0 {
		return f.each
	}
	var all []string
	if detail := f.detail(); detail != "" {
		all = append(all, detail)
	}
	for _, list := range []struct {
		label   string
		servers []Server
		why     bool
	}{
		{"down", f.Args.Down, false},
		{"not connected in both directions", f.Args.OneWay, true},
		{"members", f.Args.Members, false},
	} {
		if len(list.servers) > 0 {
			all = append(all, list.label+": "+servers(list.servers, list.why))
		}
	}
	for _, cause := range Sort(f.Causes) {
		all = append(all, cause.Message())
	}
	return all
}

// detail returns the text from elsewhere and the reasons, unless the line has them.
func (f Finding) detail() string {
	all := f.Args.Reasons
	if strings.Contains(Lookup(f.Code).Line, "{reason}") {
		all = nil
	}
	if detail := f.Args.Detail.String(); detail != "" {
		all = append([]Reason{Quote(detail)}, all...)
	}
	return joined(all, "; ")
}

// expand replaces the arguments in a text: {unit} is the argument Unit.
func (f Finding) expand(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	a := f.Args
	return strings.NewReplacer(
		"{name}", f.Subject.Name, "{unit}", a.Unit, "{units}", strings.Join(a.Units, ", "), "{cluster}", a.Cluster,
		"{other}", a.Other, "{path}", a.Path, "{service}", a.Service, "{address}", a.Address, "{version}", a.Version,
		"{value}", a.Value, "{member}", a.Member.Short(), "{after}", a.After.String(),
		"{count}", fmt.Sprint(a.Count), "{total}", fmt.Sprint(a.Total), "{tolerance}", orNone(a.Total),
		"{reason}", joined(a.Reasons, "; "),
		"{milliseconds}", fmt.Sprint(a.Duration.Milliseconds()), "{duration}", a.Duration.Round(time.Second).String(),
		"{time}", a.Time.UTC().Format(time.RFC3339),
	).Replace(text)
}

func orNone(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// key returns the same text for findings that differ only in databases and details.
func (f Finding) key() string {
	var ways []string
	for _, r := range f.Remedies {
		ways = append(ways, f.Condition(r), f.Deed(r), fmt.Sprintf("%+v %+v", r.Command, r.Then))
	}
	return fmt.Sprintf("%s %d %q %q %s %q", f.Code, f.Severity, f.Subject.Name, f.expand(Lookup(f.Code).Line), f.Since,
		ways)
}

// Sort orders findings: errors, then findings that need a command, then findings that end by themselves, then other
// warnings. Within these it keeps the order of the catalogue. It merges findings that differ only in databases and
// details.
func Sort(all []Finding) []Finding {
	var sorted []Finding
	at := map[string]int{}
	for _, f := range all {
		key := f.key()
		i, found := at[key]
		if !found {
			at[key] = len(sorted)
			sorted = append(sorted, f)
			continue
		}
		sorted[i] = sorted[i].and(f)
	}
	slices.SortStableFunc(sorted, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.urgency(), a.urgency()), cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(position(a.Code), position(b.Code)))
	})
	return sorted
}

// urgency ranks findings: 2 for errors, 1 for warnings and waits that need a command now.
func (f Finding) urgency() int {
	later := []Condition{IfThisLasts, IfItLastsThere, BeforeHook}
	now := func(r Remedy) bool {
		return (r.Command.Action != "" || len(r.Command.Words) > 0) && !slices.Contains(later, r.When)
	}
	switch {
	case f.Severity == Error:
		return 2
	case f.Severity > Info && slices.ContainsFunc(f.Remedies, now):
		return 1
	}
	return 0
}

// and merges two findings with the same key.
func (f Finding) and(o Finding) Finding {
	if !slices.Equal(f.Details(), o.Details()) {
		f.each = f.labelled()
		for _, text := range o.labelled() {
			if !slices.Contains(f.each, text) {
				f.each = append(f.each, text)
			}
		}
	}
	dbs := slices.Clone(f.Subject.Databases)
	for _, db := range o.Subject.Databases {
		if !slices.Contains(dbs, db) {
			dbs = append(dbs, db)
		}
	}
	f.Subject.Databases = dbs
	return f
}

// labelled returns the details after the names of their databases.
func (f Finding) labelled() (all []string) {
	if len(f.each) > 0 || len(f.Subject.Databases) == 0 {
		return slices.Clone(f.Details())
	}
	if details := f.Details(); len(details) > 0 {
		all = []string{names(f.Subject.Databases) + ": " + strings.Join(details, "; ")}
	}
	return all
}

func names(dbs []ovndb.Database) string {
	var all []string
	for _, db := range dbs {
		all = append(all, db.Short())
	}
	return strings.Join(all, ", ")
}

// Worst returns the highest severity; Info if there are no findings.
func Worst(all []Finding) Severity {
	worst := Info
	for _, f := range all {
		worst = max(worst, f.Severity)
	}
	return worst
}

// Has reports whether one of the findings has the code.
func Has(all []Finding, code Code) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Code == code })
}
