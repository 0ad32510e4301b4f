package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Outcome is the outcome of an operation, named as in the specification of a node's teardown.
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

// Valid reports whether v is a version that may have been stored, or has the form of an operation's ID.
func (v Version) Valid() bool {
	return v == Committed || v == Successful || v == Last || operationID.MatchString(string(v))
}

var operationID = regexp.MustCompile(`^g[0-9a-f]{8}$`)

// named returns the entry of a version, or nil.
func (j Journal) named(v Version) *Entry {
	for _, e := range j.tagged() {
		if v == Last || v == Successful && e.end.Outcome == Succeeded || e.ID == string(v) {
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

// Layout returns the layout of a version, or that of an operation by its ID. It refuses a layout that is not kept.
func (j Journal) Layout(v Version) (Layout, error) {
	missing := func(why finding.ReasonCode, operation string) (Layout, error) {
		f := finding.About(finding.RevisionMissing, "", finding.Args{
			Value: string(v), Reasons: []finding.Reason{{Code: why, Name: operation}},
		})
		return Layout{}, &answer.RefusedError{Status: answer.Of(answer.PreconditionFailed, f)}
	}
	e := j.named(v)
	switch {
	case e == nil && (v == Last || v == Successful):
		return missing(finding.NoOperationEnded, "")
	case e == nil:
		return missing(finding.NoRevision, "")
	case !j.kept(*e):
		return missing(finding.LayoutGone, e.ID)
	}
	gateways, err := unpack(j.bodies[e.end.Body])
	l := Layout{Gateways: gateways, Cordons: e.end.Cordons}
	if err != nil || l.id() != e.end.Revision {
		return missing(finding.LayoutDamaged, e.ID)
	}
	for name, chassis := range l.Gateways { // a malformed name belongs to no gateway and no chassis
		if foreign.Names(chassis); !foreign.IsName(name) {
			delete(l.Gateways, name)
		}
	}
	return l, nil
}

const (
	// Kinds of messages about revisions.
	messageRevision  = "RevisionMessage"
	messageOperation = "OperationMessage"
	messageCordon    = "CordonMessage"
)

// List returns the revisions: the present layout, then those of the tagged operations, the newest first. Each has the
// name by which it can be chosen.
func (j Journal) List(now Layout) answer.Status {
	tagged := j.tagged()
	counts := fmt.Sprintf("gateways: %d; cordons: %d; tagged operations: %d", len(now.Gateways), len(now.Cordons),
		len(tagged))
	status := answer.New(answer.Success, counts, answer.Message{
		Message: "the present layout", Kind: messageRevision, Name: string(Committed),
	})
	for _, e := range tagged {
		ended := e.end.At.UTC().Format(time.RFC3339)
		text := fmt.Sprintf("%s of %s, by %s, %s", e.end.Outcome, e.what(), e.By, ended)
		if names := j.names(e); names != "" {
			text = names + ": " + text
		}
		if !j.kept(e) {
			text += "; " + finding.Reason{Code: finding.LayoutNotKept}.String()
		}
		status = status.With(answer.Message{Message: text, Kind: messageRevision, Name: e.ID})
	}
	return status
}

// Compare returns the differences of two layouts.
func Compare(base, diff Version, from, to Layout) answer.Status {
	all := Diff(from, to)
	what := fmt.Sprintf("%s and %s", base, diff)
	if len(all) == 0 {
		return answer.New(answer.Success, what+" are the same")
	}
	return answer.New(answer.Success, fmt.Sprintf("differences between %s: %d", what, len(all)), all...)
}

const none = "0"

// ReviewID returns an ID for a plan for a layout, so that only the reviewed plan is carried out. It consists of the
// newest operation, and a hash of the layout and of the changes.
func (j Journal) ReviewID(l Layout, p schedule.Plan) string {
	newest := none
	if len(j.Entries) > 0 {
		newest = j.Entries[0].ID
	}
	return newest + "-" + digest([]any{p.Operation, l, Layout{}.WithPlan(p)})
}

// CheckReview compares a plan with the reviewed one, by its ID. It returns nil if they are the same. A conflict names
// the operations that have changed the layout since.
func (j Journal) CheckReview(reviewID string, l Layout, p schedule.Plan) *answer.Status {
	operation, hash, found := strings.Cut(reviewID, "-")
	if !found || operation == "" || hash == "" || strings.Contains(hash, "-") {
		invalid := finding.About(finding.ReviewInvalid, "", finding.Args{Value: strconv.Quote(reviewID)})
		return new(answer.Of(answer.BadRequest, invalid))
	}
	var since []answer.Message
	tagged := j.tagged()
	for _, e := range j.Entries {
		if e.ID == operation {
			break
		}
		at := slices.IndexFunc(tagged, func(t Entry) bool { return t.ID == e.ID })
		unchanged := at >= 0 && at+1 < len(tagged) && tagged[at+1].end.Revision == e.end.Revision
		if e.Gateways > 0 || !unchanged {
			text := fmt.Sprintf("%s by %s, %s", e.what(), e.By, e.At.UTC().Format(time.RFC3339))
			since = append(since, answer.Message{Message: text, Error: true, Kind: messageOperation, Name: e.ID})
		}
	}
	_, now, _ := strings.Cut(j.ReviewID(l, p), "-")
	conflict := finding.About(finding.PlanChanged, "", finding.Args{})
	switch {
	case len(since) > 0:
		conflict = finding.About(finding.OperationsSinceReview, "", finding.Args{Count: len(since)})
	case hash == now:
		return nil
	}
	return new(answer.Of(answer.Conflict, conflict, since...))
}
