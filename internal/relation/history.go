package relation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Known is what is remembered of a server.
type Known struct {
	// Unit is the unit that published the server's ID.
	Unit string `json:"unit,omitempty"`
	// Removed is when its removal was seen; the zero time while it is not known
	// to be removed. A server ID never comes back.
	Removed time.Time `json:"removed,omitzero"`
}

// History remembers, for each database, whose servers there were, so that a
// member that was left behind can still be named when its unit is gone, and a
// removed one is still known as removed. The Juju leader keeps it in the
// application's data of the peer relation, every unit on its disk.
type History map[raft.Database]map[raft.ID]Known

// maxRemoved bounds how many removed servers a database's history keeps.
const maxRemoved = 50

const keyHistory = "-servers"

// Bag is the history as the application's data.
func (h History) Bag() map[string]string {
	bag := map[string]string{}
	for _, d := range raft.Databases() {
		bag[d.Short()+keyHistory] = ""
		if len(h[d]) > 0 {
			b, _ := json.Marshal(h[d]) // strings, booleans and times always marshal
			bag[d.Short()+keyHistory] = string(b)
		}
	}
	return bag
}

// ParseHistory reads the application's data. What is malformed is left out and
// named in problems.
func ParseHistory(bag map[string]string) (h History, problems []string) {
	h = History{}
	for _, d := range raft.Databases() {
		value := bag[d.Short()+keyHistory]
		if value == "" {
			continue
		}
		var servers map[raft.ID]Known
		if err := json.Unmarshal([]byte(value), &servers); err != nil {
			problems = append(problems, fmt.Sprintf("%s%s is not a JSON object of servers: %v", d.Short(), keyHistory, err))
			continue
		}
		for id := range servers {
			if _, ok := raft.ParseID(string(id)); !ok {
				problems = append(problems, fmt.Sprintf("%s%s has %.40q, which is no ID", d.Short(), keyHistory, id))
				delete(servers, id)
			}
		}
		h[d] = servers
	}
	return h, problems
}

// Merge adds what other knows. Where both know a server, nothing that either has
// seen is lost.
func (h History) Merge(other History) History {
	merged := History{}
	for _, from := range []History{h, other} {
		for d, servers := range from {
			for id, k := range servers {
				old := merged[d][id]
				if k.Unit == "" {
					k.Unit = old.Unit
				}
				if k.Removed.IsZero() {
					k.Removed = old.Removed
				}
				merged.set(d, id, k)
			}
		}
	}
	return merged
}

// Publish adds what the units publish.
func (h History) Publish(units Units) History {
	published := History{}
	for unit, databases := range units {
		for d, id := range databases {
			if full, ok := raft.ParseID(string(id.Server)); ok {
				published.set(d, full, Known{Unit: unit})
			}
		}
	}
	return h.Merge(published)
}

// Sighting is the committed configuration that one server last had. The log of
// one server only grows, so a member that it once had and has no more was
// removed; what another server had proves nothing, since that one may be ahead.
type Sighting struct {
	Server  raft.ID  `json:"server"`
	Members []string `json:"members"`
}

// See takes into account the status of this unit's server, and what the same
// server had before: it notes the members that were removed since.
func (h History) See(d raft.Database, before Sighting, s raft.Status, now time.Time) (History, Sighting) {
	if s.State != raft.ClusterMember || !s.HasLeader() || s.NotCommitted > 0 || len(s.Removing) > 0 {
		return h, before
	}
	seen := Sighting{Server: s.Server}
	for _, m := range s.Servers {
		seen.Members = append(seen.Members, m.Short)
	}
	slices.Sort(seen.Members)
	if before.Server != s.Server {
		return h, seen
	}
	after := h.Merge(nil)
	for id, k := range after[d] {
		had, has := slices.Contains(before.Members, id.Short()), slices.Contains(seen.Members, id.Short())
		if had && !has && k.Removed.IsZero() {
			k.Removed = now.UTC().Truncate(time.Second)
			after.set(d, id, k)
		}
	}
	after.prune(d)
	return after, seen
}

// prune forgets the removed servers that are longest gone.
func (h History) prune(d raft.Database) {
	var removed []raft.ID
	for id, k := range h[d] {
		if !k.Removed.IsZero() {
			removed = append(removed, id)
		}
	}
	slices.SortFunc(removed, func(a, b raft.ID) int {
		if c := h[d][b].Removed.Compare(h[d][a].Removed); c != 0 {
			return c
		}
		return strings.Compare(string(a), string(b))
	})
	for _, id := range removed[min(len(removed), maxRemoved):] {
		delete(h[d], id)
	}
}

func (h History) set(d raft.Database, id raft.ID, k Known) {
	if h[d] == nil {
		h[d] = map[raft.ID]Known{}
	}
	h[d][id] = k
}

// Remove notes that a server was removed.
func (h History) Remove(d raft.Database, id raft.ID, unit string, now time.Time) History {
	gone := History{}
	gone.set(d, id, Known{Unit: unit, Removed: now.UTC().Truncate(time.Second)})
	return h.Merge(gone)
}
