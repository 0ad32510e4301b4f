// Package finding has the catalogue of what can be wrong with the application, and findings: what is
// wrong now, with what, and what to do about it. It is pure. Packages that judge return findings;
// package document puts them into words.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Code names an entry of the catalogue. It never changes its meaning.
type Code string

// Severity says how much a finding asks for.
type Severity int

// The severities, the lowest first.
const (
	// Info is worth knowing.
	Info Severity = iota
	// Warning needs an operator's attention while the unit works.
	Warning
	// Waiting ends by itself.
	Waiting
	// Error keeps the unit from working until an operator does something.
	Error
)

// String is the severity as documents for programs have it.
func (s Severity) String() string {
	return [...]string{"info", "warning", "waiting", "error"}[s]
}

// Kind says what kind of thing a finding is about.
type Kind string

// The kinds of subjects.
const (
	Database    Kind = "database"
	Member      Kind = "member"
	Unit        Kind = "unit"
	Northd      Kind = "northd"
	Option      Kind = "option"
	Node        Kind = "node"
	Application Kind = "application"
	Gateway     Kind = "gateway"
	Chassis     Kind = "chassis"
)

// Subject is what a finding is about.
type Subject struct {
	// Databases are those that it concerns, in their order; none if it concerns no database.
	Databases []ovndb.Database
	// Name is the unit, the member, the option or the node; empty if the finding is about the databases or
	// about the unit that reports it.
	Name string
}

// String is the subject as metrics have it.
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

// Args are the arguments of a finding. Which ones an entry uses is seen in its line.
type Args struct {
	// Unit and Units are other units than the subject.
	Unit  string
	Units []string
	// Cluster and Other are IDs of clusters, in brief.
	Cluster, Other string
	Path, Service  string
	Address        string
	Version        string
	// Value is a text of another origin: an option's value, the error of a step.
	Value string
	// Count is how many of Total.
	Count, Total int
	// After is what a change would leave.
	After Tally
	// Member is the one that a change is about, Members those that may be meant. Down and OneWay are in the way: they are
	// down, or not connected in both directions.
	Member                Server
	Members, Down, OneWay []Server
	Duration              time.Duration
	Time                  time.Time
	// Detail is what was seen, for people: reasons and numbers.
	Detail string
}

// Tally is how many of a cluster's members are up.
type Tally struct{ Up, Members int }

// String is the arithmetic as people read it.
func (t Tally) String() string {
	return fmt.Sprintf("%d of %d up, %d needed", t.Up, t.Members, t.Members/2+1)
}

// Server is a member: its ID as far as it is known, and the unit that it belongs to, or how else that is known. Why
// says what it failed to do.
type Server struct{ ID, Address, Unit, Why string }

// Short is the member as cluster/status and people call it.
func (s Server) Short() string {
	short := s.ID[:min(len(s.ID), 4)]
	if s.Unit != "" {
		short += " (" + s.Unit + ")"
	}
	return short
}

// String is the member with its address, if that is known.
func (s Server) String() string { return strings.TrimSuffix(s.Short()+" at "+s.Address, " at ") }

// servers lists members.
func servers(all []Server, why bool) string {
	var words []string
	for _, s := range all {
		text := s.String()
		if why && s.Why != "" {
			text += " (" + s.Why + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// Finding is one thing that is wrong, or worth knowing.
type Finding struct {
	Code     Code
	Severity Severity
	Subject  Subject
	Args     Args
	// Since is when it was first seen; zero if that is not known.
	Since time.Time
	// Remedies are the ways out, the best first. Some findings have none: they end by themselves.
	Remedies []Remedy
	// Causes are the findings that it follows from, without remedies of their own.
	Causes []Finding
	// each is what was seen in each database, where [Sort] has made one finding of several.
	each []string
}

// New is a finding about the unit that reports it, or about what subject names.
func New(code Code, subject Subject, args Args, remedies ...Remedy) Finding {
	return Finding{Code: code, Severity: Lookup(code).Severity, Subject: subject, Args: args, Remedies: remedies}
}

// About is a finding about what has the name.
func About(code Code, name string, args Args, remedies ...Remedy) Finding {
	return New(code, Subject{Name: name}, args, remedies...)
}

// Of is a finding about one database.
func Of(code Code, db ovndb.Database, args Args, remedies ...Remedy) Finding {
	return New(code, Subject{Databases: []ovndb.Database{db}}, args, remedies...)
}

// As is the finding with another severity than the catalogue's.
func (f Finding) As(severity Severity) Finding {
	f.Severity = severity
	return f
}

// Because is the finding as it follows from others: with their ways out, each once.
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

// Line names the problem in one line, without the details: `nb, sb: no quorum`. A line with a name but no database
// is about both databases.
func (f Finding) Line() string {
	line := f.expand(Lookup(f.Code).Line)
	if n := len(f.Subject.Databases); n == 0 || f.Subject.Name != "" && n == len(ovndb.Databases()) {
		return line
	}
	return names(f.Subject.Databases) + ": " + line
}

// Message is the line, with the details in parentheses.
func (f Finding) Message() string {
	if details := f.Details(); len(details) > 0 {
		return f.Line() + " (" + strings.Join(details, "; ") + ")"
	}
	return f.Line()
}

// Details are what was seen and what the finding follows from, a text for each database if they differ.
func (f Finding) Details() []string {
	if len(f.each) > 0 {
		return f.each
	}
	var all []string
	if f.Args.Detail != "" {
		all = append(all, f.Args.Detail)
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

// expand fills in the arguments: {unit} in a text is the argument Unit.
func (f Finding) expand(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(f.argument(name))
		text = after
	}
}

func (f Finding) argument(name string) string {
	switch a := f.Args; name {
	case "name":
		return f.Subject.Name
	case "unit":
		return a.Unit
	case "units":
		return strings.Join(a.Units, ", ")
	case "cluster":
		return a.Cluster
	case "other":
		return a.Other
	case "path":
		return a.Path
	case "service":
		return a.Service
	case "address":
		return a.Address
	case "version":
		return a.Version
	case "value":
		return a.Value
	case "member":
		return a.Member.Short()
	case "after":
		return a.After.String()
	case "count":
		return fmt.Sprint(a.Count)
	case "total":
		return fmt.Sprint(a.Total)
	case "milliseconds":
		return fmt.Sprint(a.Duration.Milliseconds())
	case "duration":
		return a.Duration.Round(time.Second).String()
	case "date":
		return a.Time.UTC().Format(time.DateOnly)
	case "time":
		return a.Time.UTC().Format(time.RFC3339)
	}
	return "{" + name + "}"
}

// key is equal for findings that differ in nothing but their databases and their details.
func (f Finding) key() string {
	var ways []string
	for _, r := range f.Remedies {
		ways = append(ways, f.Condition(r), f.Deed(r), fmt.Sprintf("%+v %+v", r.Command, r.Then))
	}
	return fmt.Sprintf("%s %d %q %q %s %q", f.Code, f.Severity, f.Subject.Name, f.expand(Lookup(f.Code).Line), f.Since,
		ways)
}

// Sort puts the most important findings first: by severity, then by the order of the catalogue.
// Findings that differ in nothing but their databases and their details become one, with the details of each database.
func Sort(all []Finding) []Finding {
	var sorted []Finding
	at := map[string]int{}
	for _, f := range all {
		i, found := at[f.key()]
		if !found {
			at[f.key()] = len(sorted)
			sorted = append(sorted, f)
			continue
		}
		sorted[i] = sorted[i].and(f)
	}
	slices.SortStableFunc(sorted, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(position(a.Code), position(b.Code)))
	})
	return sorted
}

// and is one finding of two with the same key.
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

// labelled are the details, led by the databases in which they were seen.
func (f Finding) labelled() (all []string) {
	if len(f.each) > 0 || len(f.Subject.Databases) == 0 {
		return slices.Clone(f.Details())
	}
	if details := f.Details(); len(details) > 0 {
		all = []string{names(f.Subject.Databases) + ": " + strings.Join(details, "; ")}
	}
	return all
}

// names are the databases in brief: `nb, sb`.
func names(dbs []ovndb.Database) string {
	var all []string
	for _, db := range dbs {
		all = append(all, db.Short())
	}
	return strings.Join(all, ", ")
}

// Worst is the highest severity of all; Info if there are no findings.
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
