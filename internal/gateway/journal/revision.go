package journal

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// Outcome is how an operation ended, named as in the specification of a node's teardown.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "site-action-success"
	Failed    Outcome = "site-action-failure"
)

// Version names a layout, as in the specification, which calls the plan the buffer.
type Version string

// The versions.
const (
	Committed  Version = "committed"
	Successful Version = "successful-site-action"
	Last       Version = "last-site-action"
	Planned    Version = "plan"
)

func (j Journal) tagged() []Entry {
	all := slices.DeleteFunc(slices.Clone(j.Entries), func(e Entry) bool { return e.end == nil })
	slices.SortStableFunc(all, func(a, b Entry) int { return b.end.At.Compare(a.end.At) })
	return all
}

// named returns the entry of a version, or nil.
func (j Journal) named(v Version) *Entry {
	for _, e := range j.tagged() {
		if v == Last || v == Successful && e.end.Outcome == Succeeded || e.end.Revision == string(v) && j.kept(e) {
			return &e
		}
	}
	return nil
}

func (j Journal) kept(e Entry) bool { return j.bodies[e.end.Body] != "" }

func (j Journal) names(e Entry) string {
	var all []string
	for _, v := range []Version{Last, Successful} {
		if named := j.named(v); named != nil && named.ID == e.ID {
			all = append(all, string(v))
		}
	}
	return strings.Join(all, ", ")
}

func (e Entry) what() string { return strings.TrimSuffix(e.Operation+" "+e.Chassis, " ") }

// Layout returns the layout of a version, or of a revision by its ID. It refuses one that is not kept.
func (j Journal) Layout(v Version) (Layout, error) {
	missing := func(why string) (Layout, error) {
		f := finding.About(finding.RevisionMissing, "", finding.Args{Value: string(v), Detail: why})
		return Layout{}, &answer.RefusedError{Status: answer.Of(answer.PreconditionFailed, f)}
	}
	e := j.named(v)
	switch {
	case e == nil && (v == Last || v == Successful):
		return missing("no operation has ended that way yet")
	case e == nil:
		return missing("no revision that is kept has this ID")
	case !j.kept(*e):
		return missing("the layout of operation " + e.ID + " is gone")
	}
	gateways, err := unpack(j.bodies[e.end.Body])
	l := Layout{Gateways: gateways, Cordons: e.end.Cordons}
	if err != nil || l.id() != e.end.Revision {
		return missing("the layout of operation " + e.ID + " is damaged")
	}
	for name, chassis := range l.Gateways { // a malformed name belongs to no gateway and no chassis
		if foreign.Names(chassis); !foreign.IsName(name) {
			delete(l.Gateways, name)
		}
	}
	return l, nil
}
