// Package lease decides which of several units may act. It is pure: from the value in a shared store and the time, it
// returns what the caller may do. The caller reads and writes the store.
//
// OVSDB's own locks don't help: each server of a cluster grants them independently, so two clients can hold the same
// lock. A cluster does serialise a compare-and-swap: a transaction that waits for a value and writes another one.
package lease

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Record is the value in the store. The zero value is an absent record.
type Record struct {
	// Holder is the unit that may act; if it is empty, any unit can take the record.
	Holder string `json:"holder,omitempty"`
	// Term rises by one each time the record is taken, Sequence with each renewal. So every write changes the value. That
	// matters because a write without a change succeeds even if there is no quorum.
	Term     uint64 `json:"term"`
	Sequence uint64 `json:"seq"`
	// TTLSeconds is the number of seconds without a change after which others may take over.
	TTLSeconds int `json:"ttl"`
	// Instance distinguishes the process that took the record from others of the same unit. Address is where its agent can
	// be asked. Both are empty in the record of a lock.
	Instance string `json:"instance,omitempty"`
	Address  string `json:"address,omitempty"`
	// At is when the holder wrote the record, in seconds since 1970 on the holder's clock. It only informs people
	// ([Record.HeldAt]); no decision depends on it.
	At int64 `json:"at,omitempty"`
	// Intents are the changes that holders have begun, until an entitled unit ends them. They outlive their holder.
	Intents []Intent `json:"noted,omitempty"`
	// Pad makes the record long; see [Record.Padded].
	Pad string `json:"pad,omitempty"`
}

// maxTTL limits how long a record makes others wait; malformedTTL is how long a malformed value does.
const (
	maxTTL       = 10 * time.Minute
	malformedTTL = time.Minute
)

// ErrMalformed is returned for a value that is not a record.
var ErrMalformed = errors.New("not a lease record")

// Parse parses a record; the empty string is the absent record. Its texts are cleaned, since any client of the database
// may have written them (R18). The error wraps [ErrMalformed].
func Parse(value string) (Record, error) {
	var r Record
	if value == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(value), &r); err != nil || !IsName(r.Holder) || !IsName(r.Instance) ||
		!IsName(r.Address) {
		return Record{}, fmt.Errorf("%w: %q", ErrMalformed, foreign.Name(value))
	}
	for i := range r.Intents {
		m := &r.Intents[i]
		m.ID, m.Kind, m.By, m.From = foreign.Name(m.ID), Kind(foreign.Name(string(m.Kind))), foreign.Name(m.By),
			foreign.Name(m.From)
	}
	return r, nil
}

// maxName is the limit for a name, in bytes (R18).
const maxName = 255

// IsName reports whether the text is empty or can be the name of a unit, a process or an address. Any client of the
// database can write a record, and people read its content.
func IsName(text string) bool {
	return len(text) <= maxName && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// String returns the stored form.
func (r Record) String() string {
	b, _ := json.Marshal(r) // a struct of strings and numbers always marshals
	return string(b)
}

// TTL returns how long the holder may leave the record unrenewed, at most maxTTL.
func (r Record) TTL() time.Duration {
	return time.Duration(min(max(r.TTLSeconds, 0), int(maxTTL/time.Second))) * time.Second
}

// Taken returns the record by which unit takes over from r.
func (r Record) Taken(unit string, ttl time.Duration) Record {
	return Record{
		Holder: unit, Term: r.Term + 1, Sequence: r.Sequence + 1,
		TTLSeconds: int((ttl + time.Second - 1) / time.Second), Intents: slices.Clone(r.Intents),
	}
}

// Renewed returns the record by which its holder keeps it.
func (r Record) Renewed() Record {
	r.Sequence++
	r.Intents, r.Pad = slices.Clone(r.Intents), ""
	return r
}

// Released returns the record by which its holder gives it up.
func (r Record) Released() Record {
	r = r.Renewed()
	r.Holder, r.TTLSeconds, r.Instance, r.Address, r.At = "", 0, "", "", 0
	return r
}

// clockSkew is the largest expected difference between the clocks of two machines that use NTP, if one of them is not
// synchronised yet.
const clockSkew = 30 * time.Second

// HeldAt reports whether the record seems to be held at now. It judges by a single reading and the clocks of two
// machines, so use it only to inform people. To decide, use [Watch].
func (r Record) HeldAt(now time.Time) bool {
	return r.Holder != "" && now.Sub(time.Unix(r.At, 0)).Abs() <= r.TTL()+clockSkew
}

// Watch follows a record that another unit may hold. Only the time between two observations of this process counts, so
// the clocks of two machines need not agree.
type Watch struct {
	value string
	since time.Time
	begun bool
}

// Observe takes the value that was read at now. It returns how much longer the value must stay unchanged before the
// record may be taken; 0 means that it may be taken now.
func (w *Watch) Observe(value string, now time.Time) time.Duration {
	if !w.begun || value != w.value {
		w.value, w.since, w.begun = value, now, true
	}
	r, err := Parse(value)
	ttl := r.TTL()
	switch {
	case err != nil:
		ttl = malformedTTL
	case r.Holder == "":
		return 0
	}
	return max(w.since.Add(ttl).Sub(now), 0)
}

// Held is a record that this process has written.
type Held struct {
	Record
	// Written is when the last successful write began.
	Written time.Time
}

// actShare limits when a holder may begin a change: only in the first 1/actShare of the TTL. The change must end, or be
// visible to all, before others take over.
const actShare = 2

// Until returns the time after which the holder may begin no change.
func (h Held) Until() time.Time { return h.Written.Add(h.TTL() / actShare) }

// MayAct reports whether the holder may begin a change at now. It uses both clocks of the machine: the monotonic one
// stops while the machine sleeps.
func (h Held) MayAct(now time.Time) bool {
	until := h.Until()
	return h.Holder != "" && now.Before(until) && now.Round(0).Before(until.Round(0))
}

// padBytes is the size of the padding. It exceeds the free rest of a file's last page, for pages of 4 KiB. Larger pages
// are not supported. The text is incompressible, so that all of it has to be stored.
const padBytes = 8 << 10

// Padded returns the record with a text that is longer than the free rest of a file's last page. A server that stores
// it has space on its disk, while a server with a full disk still accepts short writes. The text differs each time; the
// holder's next record has none.
func (r Record) Padded() Record {
	block := sha256.Sum256(fmt.Appendf(nil, "%d %d", r.Term, r.Sequence))
	var pad []byte
	for ; len(pad) < padBytes; block = sha256.Sum256(block[:]) {
		pad = append(pad, block[:]...)
	}
	r.Pad = base64.RawStdEncoding.EncodeToString(pad)
	return r
}

// UnknownHolder describes why the record's holder is not an agent that the agent of unit knows. It returns an empty
// text if there is no holder, or if the agent knows it. known reports whether an address is that agent's own or one
// that it asks. Any client of the database can write a record. An unknown holder is not asked, so its TTL ends and
// other units take over.
//
// If unit is not a Juju unit name, the holder's name is not checked.
func (r Record) UnknownHolder(unit string, known func(address string) bool) string {
	application := unitname.Application(unit)
	switch {
	case r.Holder == "":
		return ""
	case unitname.IsOf(unit, application) && !unitname.IsOf(r.Holder, application):
		return r.Holder + ", which is no unit of " + application
	case !known(r.Address):
		return r.Holder + " at " + r.Address + ", no peer"
	}
	return ""
}

// Kind is the kind of a change that a holder has begun.
type Kind string

const (
	// Leave is the change of a server that leaves by itself.
	Leave Kind = "leave"
	// Kick is the removal of a server by another one.
	Kick Kind = "kick"
	// Down is the stop of a server, to start again or to stay down as a member.
	Down Kind = "down"
)

// Intent is a change that was recorded before it began. It stays in the record until the unit that recorded it has seen
// its end, or until its server is proved to be gone.
type Intent struct {
	// ID is the server that leaves, is kicked or is stopped.
	ID   string `json:"id"`
	Kind Kind   `json:"kind,omitempty"`
	// By is the unit that recorded the change. From is the server through which that unit acts: for a kick, it is not ID.
	By   string `json:"by,omitempty"`
	From string `json:"from,omitempty"`
	// Seen is when the server's own unit first saw that no other unit will end the intent, in seconds since 1970 on that
	// unit's clock. It is 0 if that has not happened.
	Seen int64 `json:"seen,omitempty"`
}

// orphanTimeout is how long an intent that no other unit will end stays in the record after its server is known to be a
// plain member. The process that recorded it may be stopped and resume later; but no hook or action begins a
// change more than 20 minutes after its start.
const orphanTimeout = 30 * time.Minute

// WithIntent returns the record with a change that is about to begin. It keeps only one intent for the same change.
func (r Record) WithIntent(m Intent) Record {
	r = r.WithoutIntents(func(o Intent) bool { return m.ID == o.ID && m.Kind == o.Kind && m.By == o.By })
	r.Intents = append(r.Intents, m)
	return r
}

// WithoutIntents returns the record without the intents for which over returns true.
func (r Record) WithoutIntents(over func(Intent) bool) Record {
	r = r.Renewed()
	r.Intents = slices.DeleteFunc(r.Intents, over)
	if len(r.Intents) == 0 {
		r.Intents = nil
	}
	return r
}

// UnfinishedIntents returns the intents whose servers may still be members. gone reports whether a server is proved to
// be no longer a member.
func (r Record) UnfinishedIntents(gone func(server string) bool) []Intent {
	return r.WithoutIntents(func(m Intent) bool { return gone(m.ID) }).Intents
}

// HolderIsDone reports whether all intents of the holder are removals that are proved to be done, so that the holder
// only has to release the record. An intent to stop a server never counts: only the server's own unit sees its end.
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

// LiveOwner is a unit whose server answers and is a plain member with a leader. So the server has carried out all
// earlier commands, or passed them to its leader.
type LiveOwner struct {
	Unit, Server string
	// Gone reports whether a server is proved to be no longer a member.
	Gone func(server string) bool
	Now  time.Time
}

// WithoutEnded returns r without the intents that have ended, and whether that differs from r. With one exception, only
// the unit that recorded a change decides that it has ended: a leave that a restart cancelled, a kick that was lost, a
// server that runs again. The exception is a kick through a server that is gone: the unit whose server it names ends it
// after [orphanTimeout], since a command may still be on its way.
func (r Record) WithoutEnded(t LiveOwner) (Record, bool) {
	next, changed := r.Renewed(), false
	next.Intents = nil
	for _, m := range r.Intents {
		switch {
		case t.Gone(m.ID), m.By == t.Unit:
			changed = true
			continue
		case m.ID != t.Server || m.Kind != Kick || !t.Gone(m.From):
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
