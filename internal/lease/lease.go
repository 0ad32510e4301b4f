// Package lease decides which of several units may act. It is pure: it takes the value from the shared store and the
// time, and returns what may be done. The caller reads and writes the store.
//
// OVSDB's own locks don't help: each server of a cluster grants them independently, so two clients can hold the same
// lock. A cluster does serialise a compare-and-swap: a transaction that waits for a value and writes another.
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

// Record is the value in the store. An absent record is the zero value.
type Record struct {
	// Holder is the unit that may act; if empty, any unit can take the record.
	Holder string `json:"holder,omitempty"`
	// Term rises by one each time the record is taken, Sequence with each renewal. So every write changes the value: a
	// write without a change succeeds even if there is no quorum.
	Term     uint64 `json:"term"`
	Sequence uint64 `json:"seq"`
	// TTLSeconds is after how many seconds without a change others may take over.
	TTLSeconds int `json:"ttl"`
	// Instance distinguishes the process that took the record from others of the same unit. Address is where its agent
	// can be asked. Both are empty in the record of a lock.
	Instance string `json:"instance,omitempty"`
	Address  string `json:"address,omitempty"`
	// At is when the holder wrote the record, in seconds since 1970 on the holder's clock. It only informs people
	// ([Record.HeldAt]); no decision depends on it.
	At int64 `json:"at,omitempty"`
	// Intents are the changes that holders have begun and that no entitled unit has ended. They outlive their
	// holder.
	Intents []Intent `json:"-"`
	// Pad makes the record long; see [Record.Padded].
	Pad string `json:"pad,omitempty"`
}

// maxTTL limits how long a record makes others wait, malformedTTL how long a malformed value does.
const (
	maxTTL       = 10 * time.Minute
	malformedTTL = time.Minute
)

// ErrMalformed is returned for a value that is not a record.
var ErrMalformed = errors.New("not a lease record")

// Parse parses a record; the empty string is the absent one. Its texts are cleaned, since any client of the database
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

// IsName reports whether the text is empty or can name a unit, a process or an address. Any client of the database can
// write a record, and people read its content.
func IsName(text string) bool {
	return len(text) <= maxName && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// String is the stored form.
func (r Record) String() string {
	b, _ := json.Marshal(r) // a struct of strings and numbers always marshals
	return string(b)
}

// TTL is how long the holder may leave the record unrenewed, at most maxTTL.
func (r Record) TTL() time.Duration {
	return time.Duration(min(max(r.TTLSeconds, 0), int(maxTTL/time.Second))) * time.Second
}

// Taken is the record by which unit takes over from r.
func (r Record) Taken(unit string, ttl time.Duration) Record {
	return Record{
		Holder: unit, Term: r.Term + 1, Sequence: r.Sequence + 1,
		TTLSeconds: int((ttl + time.Second - 1) / time.Second), Intents: slices.Clone(r.Intents),
	}
}

// Renewed is the record by which its holder keeps it.
func (r Record) Renewed() Record {
	r.Sequence++
	r.Intents, r.Pad = slices.Clone(r.Intents), ""
	return r
}

// Released is the record by which its holder gives it up.
func (r Record) Released() Record {
	r = r.Renewed()
	r.Holder, r.TTLSeconds, r.Instance, r.Address, r.At = "", 0, "", "", 0
	return r
}

// clockSkew is the largest expected difference between the clocks of two machines that use NTP, if one of them is not
// synchronised yet.
const clockSkew = 30 * time.Second

// HeldAt reports whether the record seems to be held at now, judged by one reading and the clocks of two machines. Use
// it only to inform people; to decide, use [Watch].
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

// Observe takes the value read at now and returns how much longer it must stay unchanged before it may be taken; 0
// means now.
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

// actShare: a holder may begin a change only in the first 1/actShare of the TTL. The change must end, or be visible to
// all, before others take over.
const actShare = 2

// Until is the time after which the holder may begin no change.
func (h Held) Until() time.Time { return h.Written.Add(h.TTL() / actShare) }

// MayAct reports whether the holder may begin a change at now. Both clocks of the machine must agree: the monotonic one
// stops while the machine sleeps.
func (h Held) MayAct(now time.Time) bool {
	until := h.Until()
	return h.Holder != "" && now.Before(until) && now.Round(0).Before(until.Round(0))
}

// padBytes is the size of the padding. It exceeds what can be left of a file's last page: pages have 4 KiB. Larger
// pages are not supported. The text is incompressible, so that all of it has to be stored.
const padBytes = 8 << 10

// Padded is the record with a text that is longer than the rest of a file's last page. A server that stores it has
// space on the disk, while one with a full disk still accepts short writes. The text differs each time; the holder's
// next record has none.
func (r Record) Padded() Record {
	block := sha256.Sum256(fmt.Appendf(nil, "%d %d", r.Term, r.Sequence))
	var pad []byte
	for ; len(pad) < padBytes; block = sha256.Sum256(block[:]) {
		pad = append(pad, block[:]...)
	}
	r.Pad = base64.RawStdEncoding.EncodeToString(pad)
	return r
}

// UnknownHolder describes why the record's holder is not an agent that the agent of unit knows. It is empty if there is
// no holder, or if the agent knows it. known reports whether an address is that agent's own or one that it asks. Any
// client of the database can write a record. An unknown holder is not asked, so its TTL ends and other units take over.
//
// If unit is not a Juju unit name, the holder's name does not count.
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
