package relation

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// ServerRecord is the record of a server.
type ServerRecord struct {
	// Unit is the unit that published the server's ID.
	Unit string `json:"unit,omitempty"`
	// Removed is when the server was seen to be removed; zero if that is not known. A server ID never returns.
	Removed time.Time `json:"removed,omitzero"`
}

// History records the units of all servers, for each database. So a member that was left behind can be named after
// its unit is gone, and a removed one stays known as removed. The Juju leader keeps the history in the application's
// data of the peer relation, every unit on its disk.
type History map[ovndb.Database]map[raft.ID]ServerRecord

// maxRemoved limits how many removed servers a database's history keeps.
const maxRemoved = 50

const keyHistory = "-servers"

// Databag returns the history as the application's data.
func (h History) Databag() map[string]string {
	databag := map[string]string{}
	for _, d := range ovndb.Databases() {
		databag[d.Short()+keyHistory] = ""
		if len(h[d]) > 0 {
			databag[d.Short()+keyHistory] = asJSON(h, d)
		}
	}
	return databag
}

// maxProblems limits how many malformed records [ParseHistory] names.
const maxProblems = 3

// ParseHistory parses the application's data. Malformed records are left out and named in problems.
func ParseHistory(databag map[string]string) (h History, problems []finding.Reason) {
	h = History{}
	for _, d := range ovndb.Databases() {
		value := databag[d.Short()+keyHistory]
		if value == "" {
			continue
		}
		var servers map[raft.ID]json.RawMessage
		if err := json.Unmarshal([]byte(value), &servers); err != nil {
			problems = append(problems, unfit(finding.NotServers, d.Short()+keyHistory, value))
			continue
		}
		for id, text := range servers {
			var k ServerRecord
			if _, ok := raft.ParseID(string(id)); !ok {
				problems = append(problems, unfit(finding.HasNoID, d.Short()+keyHistory, string(id)))
			} else if err := json.Unmarshal(text, &k); err != nil {
				problem := unfit(finding.HasNoRecord, d.Short()+keyHistory, string(text))
				problem.Because = []finding.Reason{finding.Quote(string(id))}
				problems = append(problems, problem)
			} else {
				k.Unit = foreign.Name(k.Unit)
				h.set(d, id, k)
			}
		}
	}
	slices.SortFunc(problems, func(a, b finding.Reason) int { return strings.Compare(a.String(), b.String()) })
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], finding.Reason{Code: finding.AndMore, Count: more})
	}
	return h, problems
}

// Merge adds the records of other. If both know a server, no observation of either is lost. Merge is commutative.
func (h History) Merge(other History) History {
	merged := History{}
	for _, from := range []History{h, other} {
		for d, servers := range from {
			for id, k := range servers {
				merged.set(d, id, merged[d][id].merge(k))
			}
		}
	}
	for d := range merged {
		merged.prune(d)
	}
	return merged
}

// merge keeps the earlier time of the removal. Two units never publish the same ID; if they did, any choice would do
// as long as it is always the same.
func (k ServerRecord) merge(o ServerRecord) ServerRecord {
	if k.Unit == "" || o.Unit != "" && o.Unit < k.Unit {
		k.Unit = o.Unit
	}
	if k.Removed.IsZero() || !o.Removed.IsZero() && o.Removed.Before(k.Removed) {
		k.Removed = o.Removed
	}
	return k
}

// Publish adds the servers that the units publish.
func (h History) Publish(units UnitIdentities) History {
	published := History{}
	for unit, databases := range units {
		for d, id := range databases {
			if full, ok := raft.ParseID(string(id.Server)); ok {
				published.set(d, full, ServerRecord{Unit: unit})
			}
		}
	}
	return h.Merge(published)
}

// Configuration is the last committed configuration of one server. A server's log only grows, so a member that was in
// its configuration and no longer is was removed. A comparison with another server's configuration proves nothing,
// since that server may be ahead.
type Configuration struct {
	Server  raft.ID  `json:"server"`
	Members []string `json:"members,omitempty"`
	// Changed are the members that were added or removed by an entry not yet seen committed, with the end of the log at
	// the time when that was seen: under a steady load some entry is always uncommitted.
	Changed map[string]uint64 `json:"changed,omitempty"`
	// Since is the index up to which the log was committed when the server first saw itself as a member; 0 until then.
	Since uint64 `json:"since,omitempty"`
}

// Observation is a database at one time: the status of this unit's server, and what the units publish.
type Observation struct {
	Database  ovndb.Database
	Status    raft.Status
	Published UnitIdentities
	At        time.Time
}

// Observe compares an observation with the previous one of the same server, and records the members that were removed
// since then.
func (h History) Observe(before Configuration, o Observation) (History, Configuration) {
	d, s := o.Database, o.Status
	if !s.MemberWithLeader() {
		return h, before
	}
	if before.Server != s.Server {
		before = Configuration{}
	}
	joined := h.joined(d, s, o.Published)
	var rows []string
	for _, m := range s.Servers {
		rows = append(rows, m.Short)
	}
	seen := Configuration{Server: s.Server, Changed: map[string]uint64{}, Since: before.Since}
	after := h.Merge(nil)
	for _, short := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before.Members, joined, rows)))) {
		if seen.compare(before, s, short, slices.Contains(joined, short), slices.Contains(rows, short)) {
			after.remove(d, short, o.At)
		}
	}
	if len(seen.Changed) == 0 {
		seen.Changed = nil
	}
	if seen.Since == 0 && slices.Contains(seen.Members, s.Server.Short()) {
		seen.Since = s.Committed()
	}
	after.prune(d)
	return after, seen
}

// compare adds a member to the configuration, or records that it is changing. It reports whether the member was removed
// since the observation before. joined reports whether the server has joined since, has whether it is a member now.
func (c *Configuration) compare(before Configuration, s raft.Status, short string, joined, has bool) (removed bool) {
	had, end := slices.Contains(before.Members, short), s.Log.End
	if !had && joined {
		had = true // the recorded change was its addition
	} else if noted, is := before.Changed[short]; is {
		end = min(end, noted)
	}
	committed := had == has || s.Committed()+1 >= end
	if !committed {
		c.Changed[short] = end
	}
	if committed && has || !committed && had {
		c.Members = append(c.Members, short)
		return false
	}
	return committed
}

// joined returns the servers that, by what their units publish, were members at an index that this server's log has
// reached. All members have the same log. So if a member was added and removed before this unit observed it, or its
// addition was lost, it is known as removed, and not mistaken for a member that has yet to join.
func (h History) joined(d ovndb.Database, s raft.Status, published UnitIdentities) (members []string) {
	for _, databases := range published {
		id := databases[d]
		if at := id.memberAt(); at != 0 && at <= s.Committed() && s.Cluster != "" && id.Cluster == s.Cluster &&
			h[d][id.Server].Removed.IsZero() {
			members = append(members, id.Server.Short())
		}
	}
	return members
}

// remove records the removal of the servers with these four digits.
func (h History) remove(d ovndb.Database, short string, now time.Time) {
	for id, k := range h[d] {
		if id.Short() == short && k.Removed.IsZero() {
			k.Removed = now.UTC().Truncate(time.Second)
			h.set(d, id, k)
		}
	}
}

// prune drops the oldest removals.
func (h History) prune(d ovndb.Database) {
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

func (h History) set(d ovndb.Database, id raft.ID, k ServerRecord) {
	if h[d] == nil {
		h[d] = map[raft.ID]ServerRecord{}
	}
	h[d][id] = k
}
