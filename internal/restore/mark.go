package restore

import (
	"encoding/json"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

const markKey = observe.RecoveryKey

// mark is the value of [markKey]. The new cluster has it from its first entry on, so each unit can read it.
type mark struct {
	// Unit made the cluster, At by its clock.
	Unit string    `json:"unit"`
	At   time.Time `json:"at"`
	// Cluster is the one that was replaced.
	Cluster raft.ID `json:"cluster"`
	// Backup is the path of the backup on that unit's machine; empty if the cluster was made of the unit's own data.
	Backup string `json:"backup,omitempty"`
	// GivenUp are the units and members that the request gave up.
	GivenUp []string `json:"given-up,omitempty"`
}

func newMark(unit string, r recovery.Request, at time.Time) mark {
	return mark{Unit: unit, At: at.UTC().Truncate(time.Second), Cluster: r.Cluster, Backup: r.Backup, GivenUp: r.GivenUp}
}

// transaction returns the transaction, for ovsdb-tool(1), that writes the mark and the replaced clusters.
func (m mark) transaction(db ovndb.Database, superseded []raft.ID) string {
	value, _ := json.Marshal(m) // texts and a time only
	keys := []string{markKey, observe.SupersededKey}
	pairs := [][]string{{markKey, string(value)}, {observe.SupersededKey, observe.FormatIDs(superseded)}}
	text, _ := json.Marshal([]any{db, map[string]any{
		"op": "mutate", "table": db.GlobalTable(), "where": []any{}, "mutations": []any{
			[]any{"external_ids", "delete", []any{"set", keys}}, []any{"external_ids", "insert", []any{"map", pairs}},
		},
	}})
	return string(text)
}

// parseMark reads the mark from external_ids. found is false if there is none. The texts are cleaned, since any client
// of the database may have written them (R18).
func parseMark(ids map[string]string) (m mark, found bool) {
	if json.Unmarshal([]byte(ids[markKey]), &m) != nil || m.Unit == "" {
		return mark{}, false
	}
	foreign.Texts(&m)
	return m, true
}

func (m mark) says(db ovndb.Database, cluster raft.ID) finding.Statement {
	s := finding.Statement{Database: db, Line: finding.Recovered, Args: finding.Args{
		Unit: m.Unit, Time: m.At, Path: m.Backup, Cluster: cluster.Brief(), Other: m.Cluster.Brief(),
	}}
	if m.Backup != "" {
		s.Line = finding.RestoredCluster
	}
	return s
}
