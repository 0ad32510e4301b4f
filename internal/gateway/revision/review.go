package revision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Operation is one that has changed the layout.
type Operation struct {
	ID, Name, Node, By string
	At                 time.Time
}

// text is the operation for people.
func (o Operation) text() string {
	what := o.Name
	if o.Node != "" {
		what += " " + o.Node
	}
	return fmt.Sprintf("%s by %s, %s", what, o.By, o.At.UTC().Format(time.RFC3339))
}

// Review names a plan that an operator looks at before it is carried out.
type Review struct {
	// Revision is the layout that it was made of, Operation the last one before, or "0", Plan a
	// digest of what it changes.
	Revision, Operation, Plan string
}

// none is the revision before all operations.
const none = "0"

// NewReview names a plan of a layout. Operations are the newest first.
func NewReview(l Layout, operations []Operation, p schedule.Plan) Review {
	r := Review{l.id(), none, digest(planned(p))}
	if len(operations) > 0 {
		r.Operation = operations[0].ID
	}
	return r
}

// planned are the changes of a plan in a canonical form.
func planned(p schedule.Plan) string {
	return p.Operation + "\n" + Layout{}.WithPlan(p).body()
}

// String is the review as it is typed.
func (r Review) String() string { return r.Revision + "-" + r.Operation + "-" + r.Plan }

// ParseReview reads what [Review.String] makes.
func ParseReview(id string) (Review, error) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 || !strings.HasPrefix(parts[0], "r") || parts[1] == "" || parts[2] == "" {
		return Review{}, fmt.Errorf("review-id %q is not one that a dry run shows", id)
	}
	return Review{parts[0], parts[1], parts[2]}, nil
}

// Changes is what has come between a review and now.
type Changes struct {
	// Operations are those that have ended since, the newest first; Layout says that it is another
	// one, Plan that the plan is, though the layout is not.
	Operations   []Operation
	Layout, Plan bool
}

// None says that the plan may be carried out as it was reviewed.
func (c Changes) None() bool { return len(c.Operations) == 0 && !c.Layout && !c.Plan }

// text says what it was.
func (c Changes) text() string {
	switch {
	case len(c.Operations) == 1:
		return "1 operation has changed the layout since the plan was reviewed"
	case len(c.Operations) > 1:
		return fmt.Sprintf("%d operations have changed the layout since the plan was reviewed", len(c.Operations))
	case c.Layout:
		return "the layout has changed since the plan was reviewed: by another client of the Northbound database, such as Neutron, or by what was running then"
	}
	return "chassis or ports have changed since the plan was reviewed: the plan is another one now"
}

// Since compares a review with what there is now.
func (r Review) Since(l Layout, operations []Operation, p schedule.Plan) Changes {
	var c Changes
	for _, o := range operations {
		if o.ID == r.Operation {
			break
		}
		c.Operations = append(c.Operations, o)
	}
	now := NewReview(l, operations, p)
	c.Layout = now.Revision != r.Revision
	c.Plan = now.Plan != r.Plan
	return c
}

// Operations are those that have changed the layout, the newest first: the runs of the journal, and
// of what was tagged that of which the journal has none.
func (b Book) Operations(runs []Operation) []Operation {
	all := slices.Clone(runs)
	for n, t := range b.Tags {
		unchanged := n+1 < len(b.Tags) && b.Tags[n+1].Revision == t.Revision
		if !unchanged && !slices.ContainsFunc(runs, t.includes) {
			all = append(all, Operation{t.ID, t.Operation, t.Node, t.By, t.At})
		}
	}
	slices.SortStableFunc(all, func(x, y Operation) int { return y.At.Compare(x.At) })
	return all
}

// includes says whether a run was part of the operation.
func (t Tag) includes(run Operation) bool {
	return run.ID == t.ID || t.Node != "" && run.Node == t.Node && run.By == t.By && !run.At.Before(t.Begun) && !run.At.After(t.At)
}
