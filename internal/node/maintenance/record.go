// Package maintenance decides about nodes that are taken out of a cloud and put back: which node a name means, what
// holds the node, and what a step of a drain does. It is pure: its input is the contents of the databases.
package maintenance

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
)

// The keys of external_ids of NB_Global, each followed by the name of a chassis. They are not kept with the chassis
// because ovn-controller deletes unknown keys of other_config, and its rows when it stops (controller/chassis.c).
const (
	cordonNoteKey = "ovn-central:maintenance-by/"
	cordonHostKey = "ovn-central:maintenance-hosts/"
	holdKey       = "ovn-central:hold/"
	drainKey      = "ovn-central:drain/"
)

// Note has the author, the time and the reason of a record.
type Note struct {
	By     string    `json:"by,omitempty" yaml:"by,omitempty"`
	At     time.Time `json:"at,omitzero" yaml:"at,omitempty"`
	Reason string    `json:"reason,omitempty" yaml:"reason,omitempty"`
	// Hostname is the host name of the chassis, for when its row is gone.
	Hostname string `json:"hostname,omitempty" yaml:"hostname,omitempty"`
}

// Drain is the intent to empty a node. It stays in the database until the node is undrained or removed.
type Drain struct {
	Note `yaml:",inline"`
	// TimeoutSeconds and GraceSeconds are the limits of the command that began the drain.
	TimeoutSeconds int `json:"timeout" yaml:"timeout"`
	GraceSeconds   int `json:"grace-period" yaml:"grace-period"`
	// Undrain reports whether the drain is being undone.
	Undrain bool `json:"undrain,omitempty" yaml:"undrain,omitempty"`
	// Retired reports whether a decommission has taken the node out of all lists of candidates.
	Retired bool `json:"retired,omitempty" yaml:"retired,omitempty"`
	// Members are the members of both clusters that were on the node's machine when the drain began. Later the chassis may
	// be gone, and with it the addresses by which they were found.
	Members []Member `json:"members,omitempty" yaml:"-"`
}

// Records are the records of nodes in external_ids of NB_Global, by the name of the chassis.
type Records struct {
	Cordons map[string]Note
	// Hosted has, for a cordoned chassis, the gateways that had it as their first candidate at the time of the cordon. It
	// is not known which these were if a chassis has no entry.
	Hosted map[string][]string
	Holds  map[string][]Hold
	Drains map[string]Drain
}

// ParseRecords reads external_ids. A record that can't be read still protects its node: it counts as a cordon, a hold
// or a drain. The texts of all records are cleaned (R18). A record of a chassis with an unclean name is ignored, like
// the row of that chassis.
func ParseRecords(ids map[string]string) Records {
	r := Records{
		Cordons: map[string]Note{}, Hosted: map[string][]string{}, Holds: map[string][]Hold{},
		Drains: map[string]Drain{},
	}
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		if chassis, is := ofChassis(key, cordon.Key); is && ids[key] != cordon.Off {
			r.parseCordon(ids, chassis)
		}
		if rest, is := strings.CutPrefix(key, holdKey); is {
			r.parseHold(rest, key, ids[key])
		}
		if chassis, is := ofChassis(key, drainKey); is {
			r.Drains[chassis] = parseDrain(key, ids[key])
		}
	}
	return r
}

func (r Records) parseCordon(ids map[string]string, chassis string) {
	var n Note
	_ = json.Unmarshal([]byte(ids[cordonNoteKey+chassis]), &n) // by and reason are for people
	r.Cordons[chassis] = n.clean()
	hosted := []string{}
	if err := json.Unmarshal([]byte(ids[cordonHostKey+chassis]), &hosted); err == nil {
		r.Hosted[chassis] = foreign.Names(hosted)
	}
}

// parseHold reads a hold; rest is its key without the prefix: the chassis and the name of the hold.
func (r Records) parseHold(rest, key, value string) {
	at := strings.LastIndex(rest, "/")
	if at < 0 || !foreign.IsName(rest[:at]) {
		return // it names no chassis
	}
	h := Hold{Name: foreign.Name(rest[at+1:]), Count: 1}
	if h.Name != rest[at+1:] {
		h.raw = rest[at+1:]
	}
	if err := json.Unmarshal([]byte(value), &h.Note); err != nil {
		h.Note = unreadable(key)
	}
	h.Note = h.Note.clean()
	r.Holds[rest[:at]] = append(r.Holds[rest[:at]], h)
}

func parseDrain(key, value string) (d Drain) {
	if err := json.Unmarshal([]byte(value), &d); err != nil {
		d = Drain{Note: unreadable(key)}
	}
	d.Note = d.Note.clean()
	for i, m := range d.Members {
		d.Members[i] = Member{
			Database: foreign.Name(m.Database), Short: foreign.Name(m.Short), Address: foreign.Name(m.Address),
		}
	}
	return d
}

// ofChassis returns the name of the chassis in a key that begins with beginning.
func ofChassis(key, beginning string) (chassis string, is bool) {
	chassis, is = strings.CutPrefix(key, beginning)
	return chassis, is && foreign.IsName(chassis)
}

func unreadable(key string) Note {
	return Note{Reason: finding.Reason{Code: finding.RecordUnread, Value: strconv.Quote(foreign.Name(key))}.String()}
}

// clean returns the note with cleaned texts (R18).
func (n Note) clean() Note {
	n.By, n.Reason, n.Hostname = foreign.Name(n.By), foreign.Reason(n.Reason), foreign.Name(n.Hostname)
	return n
}

// chassis returns the names that have records, sorted.
func (r Records) chassis() []string {
	all := slices.Collect(maps.Keys(r.Cordons))
	all = slices.AppendSeq(all, maps.Keys(r.Holds))
	all = slices.AppendSeq(all, maps.Keys(r.Drains))
	slices.Sort(all)
	return slices.Compact(all)
}

// hostname returns the name of a chassis' host according to the records.
func (r Records) hostname(chassis string) string {
	if h := r.Cordons[chassis].Hostname; h != "" {
		return h
	}
	return r.Drains[chassis].Hostname
}

// Change is a change of external_ids: the pairs to set, and the keys to drop.
type Change struct {
	Set  map[string]string
	Drop []string
}

// Cordon returns the change that keeps new gateways from a chassis.
func Cordon(chassis string, n Note) Change {
	return Change{Set: map[string]string{cordon.Key + chassis: cordon.On, cordonNoteKey + chassis: text(n)}}
}

// CordonHosting is [Cordon] with a record of the gateways that have the chassis as their first candidate: these stay.
func CordonHosting(chassis string, n Note, gateways []string) Change {
	c := Cordon(chassis, n)
	c.Set[cordonHostKey+chassis] = text(append([]string{}, gateways...))
	return c
}

// Uncordon returns the change that ends a cordon.
func Uncordon(chassis string, n Note) Change {
	return Change{
		Set:  map[string]string{cordon.Key + chassis: cordon.Off, cordonNoteKey + chassis: text(n)},
		Drop: []string{cordonHostKey + chassis},
	}
}

// AddHold returns the change that holds a chassis.
func AddHold(chassis, name string, n Note) Change {
	return Change{Set: map[string]string{holdKey + chassis + "/" + name: text(n)}}
}

// Release returns the change that drops a hold.
func Release(chassis string, h Hold) Change {
	return Change{Drop: []string{holdKey + chassis + "/" + h.key()}}
}

// Erase returns the change that drops all records of a chassis.
func Erase(chassis string, r Records) Change {
	c := Change{Drop: []string{cordon.Key + chassis, cordonNoteKey + chassis, cordonHostKey + chassis, drainKey + chassis}}
	for _, h := range r.Holds[chassis] {
		c.Drop = append(c.Drop, holdKey+chassis+"/"+h.key())
	}
	return c
}

// CordonNotePair returns the pair of external_ids with the author, the reason and the time in seconds of a cordon, or
// nil if there is none. Every operation that begins or ends a cordon or a drain writes the pair again.
func CordonNotePair(chassis string, ids map[string]string) map[string]string {
	return pairOf(cordonNoteKey+chassis, ids)
}

// CordonPairs returns the pairs of external_ids that make a cordon: its key, and [CordonNotePair].
func CordonPairs(chassis string, ids map[string]string) map[string]string {
	pairs := map[string]string{}
	maps.Copy(pairs, pairOf(cordon.Key+chassis, ids))
	maps.Copy(pairs, CordonNotePair(chassis, ids))
	return pairs
}

func pairOf(key string, ids map[string]string) map[string]string {
	value, found := ids[key]
	if !found {
		return nil
	}
	return map[string]string{key: value}
}

func text(record any) string {
	b, _ := json.Marshal(record) // texts, numbers and times only
	return string(b)
}
