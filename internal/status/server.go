package status

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// A file is overgrown if its server should have compacted it long ago: it compacts at twice the size, from 10 MB on
// (ovsdb-server(1)). The values leave room for a busy server.
const (
	overgrownFactor = 4
	overgrownSize   = 64 << 20 // bytes
)

// Servers returns a line about this unit's server and its file for each database, and the findings about them.
func Servers(r observe.Report) (lines []string, all []finding.Finding) {
	for _, c := range r.Clusters {
		if c.Facts == nil {
			continue
		}
		all = append(all, serverFindings(r.Application, c)...)
		if text := serverLine(c.Facts); text != "" {
			lines = append(lines, c.Database.Short()+": "+text)
		}
	}
	return lines, all
}

func serverLine(f *observe.ServerFacts) string {
	var parts []string
	if v := f.Schemas; v.Served != "" {
		switch {
		case v.Older:
			parts = append(parts, finding.Reason{Code: finding.SchemaIsOlder, Value: v.Served, Name: v.Packages}.String())
		case v.Newer:
			parts = append(parts, finding.Reason{Code: finding.SchemaIsNewer, Value: v.Served, Name: v.Packages}.String())
		default:
			parts = append(parts, "schema "+v.Served+", the packages'")
		}
	}
	if f := f.Storage; f != nil {
		text := fmt.Sprintf("file %s, grown by %s since it was compacted", size(f.Size), size(f.Grown()))
		if !f.Written.IsZero() {
			text += " at " + f.Written.Format("2006-01-02 15:04 MST")
		}
		parts = append(parts, text)
	}
	if p := f.LongPolls; p != nil && p.Count > 0 {
		silent := finding.Reason{Code: finding.SilentTimes, Count: p.Count, Age: p.Longest.Round(100 * time.Millisecond)}
		parts = append(parts, silent.String())
	}
	return strings.Join(parts, "; ")
}

func serverFindings(m observe.Application, c observe.Cluster) (all []finding.Finding) {
	f := c.Facts
	if v := f.Schemas; v.Newer {
		all = append(all, finding.Of(finding.SchemaNewer, c.Database,
			finding.Args{Version: v.Served, Reasons: []finding.Reason{{Code: finding.SchemaExpected, Value: v.Packages}}},
			finding.Do(command.OnMachine(m.Unit, "apt-cache", "policy", "ovn-central"))))
	}
	if s := f.Storage; s != nil && s.Size >= overgrownSize && s.Size >= overgrownFactor*s.Compacted {
		all = append(all, finding.Of(finding.FileOvergrown, c.Database,
			finding.Args{
				Value:   size(s.Size),
				Reasons: []finding.Reason{{Code: finding.SizeCompacted, Value: size(s.Compacted)}},
			},
			finding.Do(command.OnMachine(m.Unit, "sudo", "ovs-appctl", "-t", f.Socket, "ovsdb-server/compact",
				string(c.Database)))))
	}
	if p, timer := f.LongPolls, c.Status.ElectionTimer; p != nil && timer > 0 && p.Longest >= timer {
		all = append(all, finding.Of(finding.ServerSilent, c.Database,
			finding.Args{Value: p.Longest.Round(100 * time.Millisecond).String(), Duration: timer},
			finding.If(finding.IfItRepeats, command.Client("config", unitname.Application(m.Unit),
				fmt.Sprintf("ovsdb-server-election-timer=%d", longerTimer(p.Longest)/time.Second)))))
	}
	return all
}

// longerTimer returns twice the time during which the server was silent, within the option's range.
func longerTimer(silent time.Duration) time.Duration {
	seconds := time.Duration(math.Ceil(2 * silent.Seconds()))
	return min(seconds*time.Second, plan.MaxElectionTimer)
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}

// statusDocument is a cluster's status for programs. Up to UnitMap it has the keys, in the order and with the types,
// of the charm that this one replaces. Fields are only ever added.
type statusDocument struct {
	Name                string           `json:"name" yaml:"name"`
	ClusterID           string           `json:"cluster_id" yaml:"cluster_id"`
	ServerID            string           `json:"server_id" yaml:"server_id"`
	Address             string           `json:"address" yaml:"address"`
	Status              string           `json:"status" yaml:"status"`
	Role                string           `json:"role" yaml:"role"`
	Term                uint64           `json:"term" yaml:"term"`
	Leader              string           `json:"leader" yaml:"leader"`
	Vote                string           `json:"vote" yaml:"vote"`
	ElectionTimerMS     int64            `json:"election_timer" yaml:"election_timer"`
	Log                 string           `json:"log" yaml:"log"`
	EntriesNotCommitted uint64           `json:"entries_not_yet_committed" yaml:"entries_not_yet_committed"`
	EntriesNotApplied   uint64           `json:"entries_not_yet_applied" yaml:"entries_not_yet_applied"`
	Connections         string           `json:"connections" yaml:"connections"`
	Servers             [][2]string      `json:"servers" yaml:"servers"`
	UnitMap             map[string]any   `json:"unit_map" yaml:"unit_map"`
	Members             []memberDocument `json:"members" yaml:"members"`
	Quorum              *quorumDocument  `json:"quorum,omitempty" yaml:"quorum,omitempty"`
	Server              *serverDocument  `json:"server,omitempty" yaml:"server,omitempty"`
}

// memberDocument describes one member. Lag counts committed entries that the member has not confirmed; only the
// leader knows it. Clients counts the clients connected to the member, if known; another unit's number is
// approximate, as of its last hook.
type memberDocument struct {
	Identity string  `json:"identity" yaml:"identity"`
	ServerID string  `json:"server_id,omitempty" yaml:"server_id,omitempty"`
	Address  string  `json:"address" yaml:"address"`
	Unit     string  `json:"unit" yaml:"unit"`
	WasUnit  string  `json:"was_unit,omitempty" yaml:"was_unit,omitempty"`
	Up       bool    `json:"up" yaml:"up"`
	Why      string  `json:"why_not_up,omitempty" yaml:"why_not_up,omitempty"`
	Self     bool    `json:"self,omitempty" yaml:"self,omitempty"`
	Leaving  bool    `json:"leaving,omitempty" yaml:"leaving,omitempty"`
	Stale    bool    `json:"stale,omitempty" yaml:"stale,omitempty"`
	Phase    string  `json:"phase,omitempty" yaml:"phase,omitempty"`
	Lag      *uint64 `json:"lag,omitempty" yaml:"lag,omitempty"`
	Clients  *int    `json:"clients,omitempty" yaml:"clients,omitempty"`
}

type quorumDocument struct {
	Members        int `json:"members" yaml:"members"`
	Up             int `json:"up" yaml:"up"`
	Needed         int `json:"needed" yaml:"needed"`
	FaultTolerance int `json:"fault_tolerance" yaml:"fault_tolerance"`
}

// serverDocument describes this unit's server and its file.
type serverDocument struct {
	Schema    *schemaDocument    `json:"schema,omitempty" yaml:"schema,omitempty"`
	File      *fileDocument      `json:"file,omitempty" yaml:"file,omitempty"`
	LongPolls *longPollsDocument `json:"long_polls_last_hour,omitempty" yaml:"long_polls_last_hour,omitempty"`
}

type schemaDocument struct {
	Served   string `json:"served" yaml:"served"`
	Packages string `json:"packages" yaml:"packages"`
}

// fileDocument describes the database file. GrownBytes is its growth since the last compaction, at CompactedAt (RFC
// 3339; empty if unknown).
type fileDocument struct {
	Bytes       int64  `json:"bytes" yaml:"bytes"`
	GrownBytes  int64  `json:"grown_bytes" yaml:"grown_bytes"`
	CompactedAt string `json:"compacted_at,omitempty" yaml:"compacted_at,omitempty"`
}

type longPollsDocument struct {
	Count     int   `json:"count" yaml:"count"`
	LongestMS int64 `json:"longest_ms" yaml:"longest_ms"`
}

// absentDocument is the document of a database that is not served here.
type absentDocument struct {
	Name      string `json:"name" yaml:"name"`
	Condition string `json:"condition" yaml:"condition"`
	Reason    string `json:"reason" yaml:"reason"`
}

const unknownUnit = "UNKNOWN"

// ClusterDocument returns the status of a cluster for the YAML and JSON of the action cluster-status. If this unit
// does not serve the database, the document has the condition and its reason.
func ClusterDocument(c observe.Cluster) any {
	if c.Condition != ovndb.Serving {
		return absentDocument{Name: string(c.Database), Condition: string(c.Condition), Reason: c.ServerState.Text()}
	}
	s := c.Status
	doc := statusDocument{
		Name: s.Name, ClusterID: string(s.Cluster), ServerID: string(s.Server), Address: s.Address,
		Status: string(s.State), Role: string(s.Role),
		Term: s.Term, Leader: string(s.Leader), Vote: string(s.Vote), ElectionTimerMS: s.ElectionTimer.Milliseconds(),
		Log:                 fmt.Sprintf("[%d, %d]", s.Log.Start, s.Log.End),
		EntriesNotCommitted: s.NotCommitted, EntriesNotApplied: s.NotApplied,
		Connections: connections(s.Connections), Servers: [][2]string{}, UnitMap: map[string]any{},
		Members: []memberDocument{},
	}
	if s.State != raft.JoiningCluster {
		doc.Quorum = &quorumDocument{
			Members: c.Quorum.Members, Up: c.Quorum.Up, Needed: raft.Majority(c.Quorum.Members),
			FaultTolerance: c.Quorum.Tolerance(),
		}
	}
	var unknown []string
	for _, row := range c.Rows {
		doc.Servers = append(doc.Servers, [2]string{row.Short, row.Address})
		if row.Owner.Unit == "" {
			unknown = append(unknown, row.Short)
		} else {
			doc.UnitMap[row.Owner.Unit] = row.Short
		}
		doc.Members = append(doc.Members, member(s, row))
	}
	if len(unknown) > 0 {
		doc.UnitMap[unknownUnit] = unknown
	}
	doc.Server = serverOf(c.Facts)
	return doc
}

func serverOf(f *observe.ServerFacts) *serverDocument {
	if f == nil {
		return nil
	}
	doc := new(serverDocument)
	if s := f.Schemas; s.Served != "" {
		doc.Schema = &schemaDocument{Served: s.Served, Packages: s.Packages}
	}
	if s := f.Storage; s != nil {
		doc.File = &fileDocument{Bytes: s.Size, GrownBytes: s.Grown()}
		if !s.Written.IsZero() {
			doc.File.CompactedAt = s.Written.Format(time.RFC3339)
		}
	}
	if p := f.LongPolls; p != nil {
		doc.LongPolls = &longPollsDocument{Count: p.Count, LongestMS: p.Longest.Milliseconds()}
	}
	return doc
}

func member(s raft.Status, row observe.Row) memberDocument {
	m := memberDocument{
		Identity: row.Short, ServerID: string(row.ID), Address: row.Address, Unit: row.Owner.Unit, WasUnit: row.Owner.Was,
		Up: row.Up, Why: row.Why.String(), Self: row.Self, Leaving: row.Leaving, Stale: row.Owner.Stale,
		Phase: string(row.Phase), Clients: row.Clients,
	}
	if m.Unit == "" {
		m.Unit = unknownUnit
	}
	if s.Role == raft.Leader {
		m.Lag = &row.Lag
	}
	return m
}

func connections(all []raft.Connection) string {
	var words []string
	for _, c := range all {
		word := "->" + c.Peer
		if c.Incoming {
			word = "<-" + c.Peer
		}
		if !c.Up {
			word = "(" + word + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
