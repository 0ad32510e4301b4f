package revision

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// Outcome is how an operation ended, named as the specification of a node's teardown names the
// tags of revisions.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "site-action-success"
	Failed    Outcome = "site-action-failure"
)

// Tag says of an operation with which revision it ended.
type Tag struct {
	// ID is the operation's; where it changed gateways it is that of the journal.
	ID        string `json:"id"`
	Operation string `json:"operation"`
	// Node is the one that it was about, if it was about one.
	Node string `json:"node,omitempty"`
	By   string `json:"by"`
	// Begun is when it started to change something, At when it ended.
	Begun   time.Time `json:"begun"`
	At      time.Time `json:"at"`
	Outcome Outcome   `json:"tag"`
	// Revision is the ID of the layout, Body that of its gateways' part.
	Revision string   `json:"revision"`
	Body     string   `json:"body"`
	Cordons  []string `json:"cordons,omitempty"`
}

// clean has the tag be as it is shown: any client of NB may have written it (R18).
func (t *Tag) clean() {
	for _, text := range []*string{&t.ID, &t.Operation, &t.Node, &t.By, (*string)(&t.Outcome), &t.Revision, &t.Body} {
		*text = foreign.Name(*text)
	}
	foreign.Names(t.Cordons)
}

// text is the tag for people.
func (t Tag) text() string {
	what := t.Operation
	if t.Node != "" {
		what += " " + t.Node
	}
	return fmt.Sprintf("%s of %s, %s, by %s, %s", t.Outcome, t.ID, what, t.By, t.At.UTC().Format(time.RFC3339))
}

// The pointers: keys of external_ids of NB_Global, whose value is the revision and the operation.
// What stands in NB now needs none: one that followed it would be a write for each of other clients.
const (
	lastKey       = "ovn-central:rev/last-site-action"
	successfulKey = "ovn-central:rev/successful-site-action"
)

// Version is a layout that can be asked for by a name.
type Version string

// The versions, with the specification's names but for the plan, which it calls the buffer.
const (
	Committed  Version = "committed"
	Successful Version = "successful-site-action"
	Last       Version = "last-site-action"
	Planned    Version = "plan"
)

// How much is kept: each follower of NB has a copy. A body of 10,000 gateways with 5
// candidates on 200 chassis takes 500 kB.
const (
	keptTags   = 20
	keptBodies = 3
)

// row is what is kept in one row: a tag, or a body by its ID.
type row struct {
	*Tag
	BodyID string `json:"body-id,omitempty"`
	Packed string `json:"packed,omitempty"`
}

// Book is all that is kept of revisions.
type Book struct {
	// Tags are the newest first.
	Tags []Tag
	// last and successful are the operations that the pointers name.
	last, successful string
	bodies           map[string]string
	// rows are the UUIDs of the rows of each tag and body, by its ID.
	rows map[string][]string
}

// Read makes a book of rows, by their UUID, and of external_ids of NB_Global. What can't be read
// counts as not kept.
func Read(rows, ids map[string]string) Book {
	b := Book{bodies: map[string]string{}, rows: map[string][]string{}}
	b.last, b.successful = pointed(ids[lastKey]), pointed(ids[successfulKey])
	for _, uuid := range slices.Sorted(maps.Keys(rows)) {
		var r row
		if err := json.Unmarshal([]byte(rows[uuid]), &r); err != nil {
			r = row{}
		}
		id := r.BodyID
		switch {
		case id != "":
			b.bodies[id] = r.Packed
		case r.Tag != nil:
			r.Tag.clean()
			id = r.ID
			b.Tags = append(b.Tags, *r.Tag)
		}
		b.rows[id] = append(b.rows[id], uuid) // without an ID it is dropped with the next write
	}
	slices.SortStableFunc(b.Tags, func(x, y Tag) int { return y.At.Compare(x.At) })
	return b
}

// pointed is the operation that a pointer names.
func pointed(pointer string) string {
	_, operation, _ := strings.Cut(pointer, " ")
	return foreign.Name(operation)
}

// Written is what to write for a tag: pairs of external_ids, new rows, and the UUIDs of rows that are
// not needed any more.
type Written struct {
	Put     map[string]string
	Added   []string
	Dropped []string
}

// Tag is what to write for an operation that has ended with a layout. Where both pointers name that
// layout already, and it succeeded again, that is nothing (R17).
func (b Book) Tag(t Tag, l Layout) Written {
	body := l.body()
	t.Revision, t.Body, t.Cordons = l.id(), bodyID(body), l.Cordons
	if t.Outcome == Succeeded && b.revisionOf(b.last, Succeeded) == t.Revision && b.revisionOf(b.successful, Succeeded) == t.Revision {
		return Written{}
	}
	w := Written{Put: map[string]string{lastKey: t.Revision + " " + t.ID}, Added: []string{text(row{Tag: &t})}}
	successful := b.successful
	if t.Outcome == Succeeded {
		successful = t.ID
		w.Put[successfulKey] = w.Put[lastKey]
	}
	if _, there := b.bodies[t.Body]; !there {
		w.Added = append(w.Added, text(row{BodyID: t.Body, Packed: pack(body)}))
	}
	needed := map[string]bool{t.Body: true}
	keep := map[string]bool{}
	for n, old := range b.Tags {
		if n+1 < keptTags || old.ID == successful {
			keep[old.ID] = true
		}
		if old.ID == successful {
			needed[old.Body] = true
		}
	}
	for _, old := range b.Tags { // what is left over goes to the newest
		if len(needed) < keptBodies {
			needed[old.Body] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.rows)) {
		if !keep[id] && !needed[id] {
			w.Dropped = append(w.Dropped, b.rows[id]...)
		}
	}
	return w
}

func (b Book) revisionOf(operation string, outcome Outcome) string {
	for _, t := range b.Tags {
		if t.ID == operation && t.Outcome == outcome {
			return t.Revision
		}
	}
	return ""
}

func text(r row) string {
	t, _ := json.Marshal(r) // texts and times only
	return string(t)
}

// kept says whether the layout of a tag is kept.
func (b Book) kept(t Tag) bool { return b.bodies[t.Body] != "" }

// names are the pointers that name a tag, with a comma between them.
func (b Book) names(t Tag) string {
	var all []string
	for _, v := range []Version{Last, Successful} {
		if b.operation(v) == t.ID {
			all = append(all, string(v))
		}
	}
	return strings.Join(all, ", ")
}

func (b Book) operation(v Version) string {
	switch v {
	case Last:
		return b.last
	case Successful:
		return b.successful
	}
	return ""
}

// MissingError says that a revision that is asked for is not there.
type MissingError struct{ Version, Why string }

// Error says why.
func (e *MissingError) Error() string { return fmt.Sprintf("there is no %s: %s", e.Version, e.Why) }

// Layout is that of a pointer, or of a revision by its ID; one that is not there is a
// [*MissingError].
func (b Book) Layout(v Version) (Layout, error) {
	missing := func(why string, args ...any) (Layout, error) {
		return Layout{}, &MissingError{string(v), fmt.Sprintf(why, args...)}
	}
	operation := b.operation(v)
	at := slices.IndexFunc(b.Tags, func(t Tag) bool { return t.ID == operation || t.Revision == string(v) && b.kept(t) })
	switch named := v == Last || v == Successful; {
	case named && operation == "":
		return missing("no operation has ended that way yet")
	case named && at < 0:
		return missing("the record of operation %s is gone", operation)
	case at < 0:
		return missing("none of the revisions that are kept has this ID")
	}
	gateways, err := unpack(b.bodies[b.Tags[at].Body])
	if err != nil || !b.kept(b.Tags[at]) {
		return missing("the layout of operation %s is gone", b.Tags[at].ID)
	}
	l := Layout{Gateways: gateways, Cordons: b.Tags[at].Cordons}
	if l.id() != b.Tags[at].Revision {
		return missing("the layout of operation %s is damaged", b.Tags[at].ID)
	}
	for name, chassis := range l.Gateways { // a malformed name belongs to no gateway and no chassis
		if foreign.Names(chassis); !foreign.IsName(name) {
			delete(l.Gateways, name)
		}
	}
	return l, nil
}
