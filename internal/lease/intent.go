package lease

import (
	"encoding/json"
	"slices"
	"time"
)

// Kind is what a holder has begun.
type Kind string

// The kinds of a change.
const (
	// Leave: a server leaves by itself.
	Leave Kind = "leave"
	// Kick: a server is removed by another one.
	Kick Kind = "kick"
	// Down: a server is taken down, to come back or to stay down as a member.
	Down Kind = "down"
	// Unknown: noted by a version that told no kinds. It may be any of them, and
	// whose it is is not known either.
	Unknown Kind = ""
)

// Intent is a change that was noted before it was begun. It stands until the unit that noted
// it has seen its end, or its server is seen to be gone for good.
type Intent struct {
	// ID is the server that goes, or is taken down.
	ID   string `json:"id"`
	Kind Kind   `json:"kind,omitempty"`
	// By is the unit that noted it, From the server through which that unit acts:
	// of a kick another one than ID.
	By   string `json:"by,omitempty"`
	From string `json:"from,omitempty"`
	// Seen is when the unit of the server has first seen a mark that no other unit will
	// take back, in seconds since 1970 on that unit's clock; 0 where it has not.
	Seen int64 `json:"seen,omitempty"`
}

// orphanTimeout is how long a mark that no other unit will take back stands once the
// server that it is about is known to be a plain member. What noted it may be a process
// that was stopped and goes on; no hook and no action, of a version that told no kinds
// either, begins anything 20 minutes after its start.
const orphanTimeout = 30 * time.Minute

// wire is the form that stands in the store. Pending has the server of each mark: a
// version that tells no kinds reads and keeps only that, and drops Noted.
type wire struct {
	bare
	Pending []string `json:"pending,omitempty"`
	Noted   []Intent `json:"noted,omitempty"`
}

// bare is a Record without its methods.
type bare Record

// MarshalJSON implements [json.Marshaler].
func (r Record) MarshalJSON() ([]byte, error) {
	w := wire{bare: bare(r)}
	for _, m := range r.Intents {
		if !slices.Contains(w.Pending, m.ID) {
			w.Pending = append(w.Pending, m.ID)
		}
		if m.Kind != Unknown || m.Seen != 0 {
			w.Noted = append(w.Noted, m)
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Record) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = Record(w.bare)
	r.Intents = w.Noted
	for _, id := range w.Pending {
		if !slices.ContainsFunc(w.Noted, func(m Intent) bool { return m.ID == id }) {
			r.Intents = append(r.Intents, Intent{ID: id})
		}
	}
	return nil
}

// same says whether two marks are of one change.
func (m Intent) same(o Intent) bool { return m.ID == o.ID && m.Kind == o.Kind && m.By == o.By }

// WithIntent adds a change that is about to be begun.
func (r Record) WithIntent(m Intent) Record {
	r = r.Renewed()
	r.Intents = append(slices.DeleteFunc(r.Intents, m.same), m)
	return r
}

// WithoutIntents takes away the marks for which over says true.
func (r Record) WithoutIntents(over func(Intent) bool) Record {
	r = r.Renewed()
	r.Intents = slices.DeleteFunc(r.Intents, over)
	if len(r.Intents) == 0 {
		r.Intents = nil
	}
	return r
}

// UnfinishedIntents are the marks that the server's end does not settle. gone says whether
// a server is proved to be no longer a member.
func (r Record) UnfinishedIntents(gone func(server string) bool) []Intent {
	var marks []Intent
	for _, m := range r.Intents {
		if !gone(m.ID) {
			marks = append(marks, m)
		}
	}
	return marks
}

// HolderIsDone says whether all that the holder has noted is a removal that is seen
// to be done, so that it has only to give the record up. A server that is taken down
// is never seen to be back by another unit than its own.
func (r Record) HolderIsDone(gone func(server string) bool) bool {
	done := false
	for _, m := range r.Intents {
		if m.By != r.Holder || m.By == "" {
			continue
		}
		if m.Kind != Leave && m.Kind != Kick || !gone(m.ID) {
			return false
		}
		done = true
	}
	return done
}

// Owner is a unit whose server is a plain member, with a leader, that answers: what
// it was asked to do before, it has done or passed on to its leader.
type Owner struct {
	Unit, Server string
	// Gone says whether a server is proved to be no longer a member.
	Gone func(server string) bool
	Now  time.Time
}

// WithoutEnded is r without what has ended, and whether that differs from r. Only the unit
// that noted a change says that it has ended: a leave that a restart has cancelled,
// a kick that was lost, a server that is back. A mark of no known kind, and a kick by
// a unit whose own server is gone, are the business of the server that they are about,
// and take their time: what was sent before may still be on its way.
func (r Record) WithoutEnded(t Owner) (Record, bool) {
	next, changed := r.Renewed(), false
	next.Intents = nil
	for _, m := range r.Intents {
		switch {
		case t.Gone(m.ID), m.By == t.Unit:
			changed = true
			continue
		case m.ID != t.Server || m.Kind != Unknown && (m.Kind != Kick || !t.Gone(m.From)):
		case m.Seen == 0 || m.Seen > t.Now.Unix():
			m.Seen, changed = t.Now.Unix(), true
		case t.Now.Sub(time.Unix(m.Seen, 0)) > orphanTimeout:
			changed = true
			continue
		}
		next.Intents = append(next.Intents, m)
	}
	return next, changed
}
