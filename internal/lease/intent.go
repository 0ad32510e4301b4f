package lease

import (
	"encoding/json"
	"slices"
	"time"
)

// Kind is the kind of a change that a holder has begun.
type Kind string

const (
	// Leave is a server that leaves by itself.
	Leave Kind = "leave"
	// Kick is a server that another one removes.
	Kick Kind = "kick"
	// Down is a server that is stopped, to start again or to stay down as a member.
	Down Kind = "down"
	// Unknown is a change that was recorded without its kind. It may be any of them, by any unit.
	Unknown Kind = ""
)

// Intent is a change that was recorded before it began. It stays in the record until the unit that recorded it has seen
// its end, or until its server is proved to be gone.
type Intent struct {
	// ID is the server that leaves, is kicked or is stopped.
	ID   string `json:"id"`
	Kind Kind   `json:"kind,omitempty"`
	// By is the unit that recorded the change. From is the server through which that unit acts: for a kick, another one
	// than ID.
	By   string `json:"by,omitempty"`
	From string `json:"from,omitempty"`
	// Seen is when the server's own unit first saw an intent that no other unit will end, in seconds since 1970 on that
	// unit's clock; 0 if it has not seen one.
	Seen int64 `json:"seen,omitempty"`
}

// orphanTimeout is how long an intent that no other unit will end stays in the record after its server is known to be a
// plain member. The process that recorded it may be stopped and resume later; but no hook or action, of any version,
// begins a change more than 20 minutes after its start.
const orphanTimeout = 30 * time.Minute

// wire is the stored form. Pending lists the server of each intent: a version without kinds reads and keeps only that,
// and drops Noted.
type wire struct {
	bare
	Pending []string `json:"pending,omitempty"`
	Noted   []Intent `json:"noted,omitempty"`
}

// bare is a Record without its methods, so that marshalling does not recurse.
type bare Record

// MarshalJSON writes the IDs of the intents beside the intents, for readers that know only IDs.
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

// UnmarshalJSON reads what [Record.MarshalJSON] writes; an ID without an intent is of an unknown kind.
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

// isSameChange reports whether two intents describe one change.
func (m Intent) isSameChange(o Intent) bool { return m.ID == o.ID && m.Kind == o.Kind && m.By == o.By }

// WithIntent is the record with a change that is about to begin.
func (r Record) WithIntent(m Intent) Record {
	r = r.Renewed()
	r.Intents = append(slices.DeleteFunc(r.Intents, m.isSameChange), m)
	return r
}

// WithoutIntents is the record without the intents for which over returns true.
func (r Record) WithoutIntents(over func(Intent) bool) Record {
	r = r.Renewed()
	r.Intents = slices.DeleteFunc(r.Intents, over)
	if len(r.Intents) == 0 {
		r.Intents = nil
	}
	return r
}

// UnfinishedIntents returns the intents of servers that still may be members. gone reports whether a server is proved
// to be no longer a member.
func (r Record) UnfinishedIntents(gone func(server string) bool) []Intent {
	return r.WithoutIntents(func(m Intent) bool { return gone(m.ID) }).Intents
}

// HolderIsDone reports whether all intents of the holder are removals that are proved to be done, so that the holder
// has only to release the record. An intent to stop a server never counts: only the server's own unit sees its end.
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

// LiveOwner is a unit with a server that answers and is a plain member with a leader: the server has carried out all
// earlier commands, or passed them to its leader.
type LiveOwner struct {
	Unit, Server string
	// Gone reports whether a server is proved to be no longer a member.
	Gone func(server string) bool
	Now  time.Time
}

// WithoutEnded returns r without the intents that have ended, and whether that differs from r. Only the unit that
// recorded a change decides that it has ended: a leave that a restart cancelled, a kick that was lost, a server that
// runs again. Two kinds of intent are ended by the server that they name, after [orphanTimeout], since a command may
// still be on its way: those of unknown kind, and kicks through a server that is gone.
func (r Record) WithoutEnded(t LiveOwner) (Record, bool) {
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
