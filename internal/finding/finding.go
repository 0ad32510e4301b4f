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
	Application Kind = "application"
)

// Subject is what a finding is about.
type Subject struct {
	// Databases are those that it concerns, in their order; none if it concerns no database.
	Databases []ovndb.Database
	// Name is the unit, the member or the option; empty if the finding is about the databases or
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
	Duration     time.Duration
	Time         time.Time
	// Detail is what was seen, for people: reasons and numbers.
	Detail string
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
}

// New is a finding about the unit that reports it, or about what subject names.
func New(code Code, subject Subject, args Args, remedies ...Remedy) Finding {
	return Finding{Code: code, Severity: Lookup(code).Severity, Subject: subject, Args: args, Remedies: remedies}
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

// Line names the problem in one line, without the details: `nb, sb: no quorum`. A line with a name but no database
// is about both databases.
func (f Finding) Line() string {
	line := f.expand(Lookup(f.Code).Line)
	var names []string
	for _, db := range f.Subject.Databases {
		names = append(names, db.Short())
	}
	if len(names) == 0 || f.Subject.Name != "" && len(names) == len(ovndb.Databases()) {
		return line
	}
	return strings.Join(names, ", ") + ": " + line
}

// Message is the line, with the details in parentheses.
func (f Finding) Message() string {
	if f.Args.Detail == "" {
		return f.Line()
	}
	return f.Line() + " (" + f.Args.Detail + ")"
}

// expand fills in the arguments: {unit} in a text is the argument Unit.
func (f Finding) expand(text string) string {
	a := f.Args
	return strings.NewReplacer(
		"{name}", f.Subject.Name, "{unit}", a.Unit, "{units}", strings.Join(a.Units, ", "), "{cluster}", a.Cluster, "{other}", a.Other,
		"{path}", a.Path, "{service}", a.Service, "{address}", a.Address, "{version}", a.Version, "{value}", a.Value,
		"{count}", fmt.Sprint(a.Count), "{total}", fmt.Sprint(a.Total), "{milliseconds}", fmt.Sprint(a.Duration.Milliseconds()),
		"{duration}", a.Duration.Round(time.Second).String(), "{date}", a.Time.UTC().Format(time.DateOnly),
	).Replace(text)
}

// key is equal for findings that differ in nothing but their databases.
func (f Finding) key() string {
	f.Subject.Databases = nil
	return fmt.Sprintf("%+v", f)
}

// Sort puts the most important findings first: by severity, then by the order of the catalogue.
// Findings that are the same for both databases become one.
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
		dbs := slices.Clone(sorted[i].Subject.Databases)
		for _, db := range f.Subject.Databases {
			if !slices.Contains(dbs, db) {
				dbs = append(dbs, db)
			}
		}
		sorted[i].Subject.Databases = dbs
	}
	slices.SortStableFunc(sorted, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(position[a.Code], position[b.Code]))
	})
	return sorted
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
