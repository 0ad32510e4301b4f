package restore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// Status is the state of the recoveries and restores of both databases, as a unit knows it.
type Status struct {
	// Made states how each served cluster was made, if by a recovery or a restore.
	Made []finding.Statement
	// Running states the progress of unfinished recoveries.
	Running []finding.Statement
	// Findings are reasons to wait, withdrawals and incomplete proofs, or that everything is proved.
	Findings []finding.Finding
	// Proofs are the proofs of new clusters of databases without an unfinished recovery.
	Proofs []recovery.Proof
	// proved are the requests that made these clusters.
	proved map[ovndb.Database]recovery.Request
}

// errNotProved is returned if a new cluster has replaced the old one, but not all of its members serve it.
var errNotProved = finding.Reason{Code: finding.NotAllServe}.Err()

// Status reports the progress of recoveries and restores. If one of them made the served cluster, it proves that the
// cluster serves: it writes a key, reads it back from each unit, and deletes it. It changes nothing else.
func (o Operation) Status(ctx context.Context) (Status, error) {
	found := Status{proved: map[ovndb.Database]recovery.Request{}}
	u, err := o.Look(ctx)
	if err != nil {
		return found, err
	}
	for _, db := range ovndb.Databases() {
		found.add(ctx, u, db)
	}
	found.Proofs = u.prove(ctx, u.Plan, found.proved)
	var broken, open []finding.Finding
	for _, p := range found.Proofs {
		broken, open = append(broken, p.Broken(u.Env.Unit)...), append(open, p.Findings(u.Env.Unit)...)
	}
	found.Findings = append(found.Findings, open...)
	waits := slices.ContainsFunc(found.Findings, func(f finding.Finding) bool { return f.Severity == finding.Waiting })
	if len(found.Proofs) > 0 && len(found.Running)+len(open) == 0 && !waits {
		found.Findings = append(found.Findings, recovery.Proved(u.Env.Unit, found.Proofs))
	}
	if len(broken) > 0 {
		return found, fmt.Errorf("%w: %w", errNotProved, finding.Refuse(broken))
	}
	return found, nil
}

func (s *Status) add(ctx context.Context, u Seen, db ovndb.Database) {
	state, attempt := u.Plan.Recovery[db], u.Attempts[db]
	running := state.Progress()
	s.Running = append(s.Running, running...)
	if why, is := state.Next().Waits(); is {
		s.Findings = append(s.Findings, why)
	} else if why, is := state.Pending(); is {
		s.Findings = append(s.Findings, why)
	}
	if attempt.Stage == recovery.Withdrawn && len(running) == 0 {
		s.Findings = append(s.Findings, plan.Withdrawn(db, attempt.Why))
	}
	made, err := u.readMark(ctx, db)
	if err != nil {
		detail, _, _ := strings.Cut(err.Error(), "\n")
		s.Findings = append(s.Findings, finding.Of(finding.RecoveryMarkUnread, db, finding.Quote(detail).Args()))
	}
	if made.Unit == "" {
		return
	}
	s.Made = append(s.Made, statementOf(made, db, u.Plan.Databases[db].Cluster))
	if len(running) > 0 {
		return
	}
	givenUp := made.GivenUp
	if attempt.Replaced() {
		givenUp = append(givenUp, attempt.Request.GivenUp...)
	}
	s.proved[db] = recovery.Request{GivenUp: givenUp}
}

// readMark reads the mark of the cluster that this unit's server serves. Mark.Unit is empty if the cluster has no mark.
func (u Seen) readMark(ctx context.Context, db ovndb.Database) (m observe.Mark, err error) {
	if u.Plan.Databases[db].Condition != ovndb.Serving {
		return m, finding.Reason{Code: finding.ServesNone}.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, readBack)
	defer cancel()
	socket := []string{"unix:" + u.Files.Paths.Socket(db)}
	err = u.Dialer.WithGlobal(ctx, db, socket, func(_ *ovsdb.Global, ids map[string]string) error {
		m = observe.ParseMark(ids)
		return nil
	})
	return m, err
}

func newMark(unit string, r recovery.Request, at time.Time) observe.Mark {
	return observe.Mark{
		Unit: unit, At: at.UTC().Truncate(time.Second), Cluster: r.Cluster, Backup: r.Backup, GivenUp: r.GivenUp,
	}
}

// markTransaction returns the transaction, for ovsdb-tool(1), that writes the mark and the replaced clusters.
func markTransaction(m observe.Mark, db ovndb.Database, superseded []raft.ID) string {
	value, _ := json.Marshal(m) // it has only texts and a time
	keys := []string{observe.RecoveryKey, observe.SupersededKey}
	pairs := [][]string{{observe.RecoveryKey, string(value)}, {observe.SupersededKey, observe.FormatIDs(superseded)}}
	text, _ := json.Marshal([]any{db, map[string]any{
		"op": "mutate", "table": db.GlobalTable(), "where": []any{}, "mutations": []any{
			[]any{"external_ids", "delete", []any{"set", keys}}, []any{"external_ids", "insert", []any{"map", pairs}},
		},
	}})
	return string(text)
}

func statementOf(m observe.Mark, db ovndb.Database, cluster raft.ID) finding.Statement {
	s := finding.Statement{Database: db, Line: finding.Recovered, Args: finding.Args{
		Unit: m.Unit, Time: m.At, Path: m.Backup, Cluster: cluster.Brief(), Other: m.Cluster.Brief(),
	}}
	if m.Backup != "" {
		s.Line = finding.RestoredCluster
	}
	return s
}
