// Package lease decides which unit may act, where several could. It is pure: it takes
// what stands in the shared store and the time, and says what may be done. The caller
// reads and writes the store.
//
// OVSDB's own locks are no use for this: each server of a cluster grants them by
// itself, so that two clients can hold the same one. What a cluster does
// serialise is a compare-and-swap: a transaction that waits for a value and
// writes another.
package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// Record is what stands in the store. An absent record is the zero value.
type Record struct {
	// Holder is the unit that may act; empty when none may, so that any unit
	// can take it.
	Holder string `json:"holder,omitempty"`
	// Term is one higher each time the record is taken. Sequence is one higher
	// with each renewal, so that every write changes the value: a write that
	// changes nothing succeeds even without a quorum.
	Term     uint64 `json:"term"`
	Sequence uint64 `json:"seq"`
	// TTLSeconds is after how many seconds without a change others may take
	// over.
	TTLSeconds int `json:"ttl"`
	// Instance tells the process that has taken the record from others of the same unit,
	// Address is where its agent can be asked; both are empty in the record of a lock.
	Instance string `json:"instance,omitempty"`
	Address  string `json:"address,omitempty"`
	// At is when its holder has written it, in seconds since 1970 on the holder's clock. Only what is
	// said of the record goes by it ([Record.HeldAt]); nothing is done for it.
	At int64 `json:"at,omitempty"`
	// Intents are the changes that holders have begun and that have not been seen
	// finished by a unit that may say so. They outlive their holder.
	Intents []Intent `json:"-"`
	// Pad makes the record long; see [Record.Padded].
	Pad string `json:"pad,omitempty"`
}

// maxTTL bounds what a record can make others wait, malformedTTL what a value can
// that is none.
const (
	maxTTL       = 10 * time.Minute
	malformedTTL = time.Minute
)

// ErrMalformed is returned for a value that is not a record.
var ErrMalformed = errors.New("not a lease record")

// Parse reads a record; the empty string is the absent one. Its texts are cleaned, since any client of the database may
// have written them (R18). The error wraps [ErrMalformed].
func Parse(value string) (Record, error) {
	var r Record
	if value == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(value), &r); err != nil || !IsName(r.Holder) || !IsName(r.Instance) || !IsName(r.Address) {
		return Record{}, fmt.Errorf("%w: %q", ErrMalformed, foreign.Name(value))
	}
	for i := range r.Intents {
		m := &r.Intents[i]
		m.ID, m.Kind, m.By, m.From = foreign.Name(m.ID), Kind(foreign.Name(string(m.Kind))), foreign.Name(m.By), foreign.Name(m.From)
	}
	return r, nil
}

// maxName bounds what names something, in bytes.
const maxName = 255

// IsName reports whether the text can name a unit, a process or an address, or is empty. Any client of the
// database can write a record, and people are shown what is in it.
func IsName(text string) bool {
	return len(text) <= maxName && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// String is the form that stands in the store.
func (r Record) String() string {
	b, _ := json.Marshal(r) // a struct of strings and numbers always marshals
	return string(b)
}

// TTL is how long the record's holder may go without renewing it.
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

// clockSkew is how far the clocks of two machines are apart at most where both are kept by NTP and
// one of them is not yet in step.
const clockSkew = 30 * time.Second

// HeldAt says whether the record seems to be held at now, as one look can tell: by the clocks of two
// machines, so that it is good for what is said, and for nothing that is done. A holder that is
// gone is told by a [Watch].
func (r Record) HeldAt(now time.Time) bool {
	return r.Holder != "" && now.Sub(time.Unix(r.At, 0)).Abs() <= r.TTL()+clockSkew
}

// Watch follows a record that another unit may hold. Only time that passed
// between two looks of this very process counts, so that the clocks of two
// machines need not agree.
type Watch struct {
	value string
	since time.Time
	begun bool
}

// Observe takes the value that stands in the store at now and says how much
// longer it must stay unchanged before it may be taken; 0: now.
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
	// Written is when the last write that succeeded was begun.
	Written time.Time
}

// actShare is the part of the TTL in which a holder may still begin something:
// it must be done, or be seen by all to be under way, before others take over.
const actShare = 2

// Until is the moment after which the holder may begin nothing more.
func (h Held) Until() time.Time { return h.Written.Add(h.TTL() / actShare) }

// MayAct says whether the holder may begin something at now. Both clocks of a
// machine must agree: the one that only goes forward stands still while the whole
// machine does.
func (h Held) MayAct(now time.Time) bool {
	until := h.Until()
	return h.Holder != "" && now.Before(until) && now.Round(0).Before(until.Round(0))
}
