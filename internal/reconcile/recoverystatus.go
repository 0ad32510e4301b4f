package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// RecoveryStatus is what a unit knows of the recoveries and restores of both databases.
type RecoveryStatus struct {
	// Made says how each cluster that is served came about, if a recovery or a restore made it.
	Made []string
	// Running are those that are not finished, and what is waited for.
	Running []string
	// Proofs are of the clusters that were made, if none is running for the database.
	Proofs []recovery.Proof
}

// Proven reports whether every proof is complete.
func (s RecoveryStatus) Proven() bool {
	return len(s.Proofs) > 0 && !slices.ContainsFunc(s.Proofs, func(p recovery.Proof) bool { return !p.Complete() })
}

// errNotProved is returned if a new cluster has replaced the old one and does not serve all units that are its members.
var errNotProved = errors.New("the new cluster is in place, but not every member serves it; repair that member's server, then run the same command again")

// RecoveryStatus reports how far recoveries and restores are. Of a cluster that one of them made it proves that it
// serves: it writes a key, reads it back from each unit, and deletes it. Nothing else is changed.
func (u *Reconciler) RecoveryStatus(ctx context.Context) (RecoveryStatus, error) {
	var found RecoveryStatus
	r, o, err := u.recoveryResult(ctx)
	if err != nil {
		return found, err
	}
	proved := map[ovndb.Database]recovery.Request{}
	for _, db := range ovndb.Databases() {
		running := o.state.Recovery[db].Progress()
		found.Running = append(found.Running, running...)
		if reason := r.Refused[db]; reason != "" && len(running) == 0 {
			found.Made = append(found.Made, "withdrawn: "+reason)
		}
		made, there, err := u.readMark(ctx, o, db)
		switch {
		case err != nil:
			found.Running = append(found.Running, fmt.Sprintf("%s: this unit's server can't say how its cluster was made: %v", db.Short(), err))
		case there:
			found.Made = append(found.Made, fmt.Sprintf("%s: cluster %s: %s, in place of %s", db.Short(), o.state.Databases[db].Cluster.Brief(), made, made.Cluster.Brief()))
		}
		if there && len(running) == 0 {
			proved[db] = recovery.Request{GivenUp: append(made.GivenUp, r.Remade[db].GivenUp...)}
		}
	}
	found.Proofs = u.prove(ctx, o, proved)
	var broken []string
	for _, p := range found.Proofs {
		broken = append(broken, p.Broken()...)
	}
	if len(broken) > 0 {
		return found, fmt.Errorf("%w: %s", errNotProved, strings.Join(append(broken, u.unitsToKick(found.Proofs)...), "; "))
	}
	return found, nil
}

// readMark reads how the cluster that this unit's server serves was made.
func (u *Reconciler) readMark(ctx context.Context, o Result, db ovndb.Database) (m mark, found bool, err error) {
	if x := o.state.Databases[db]; x.Condition != ovndb.Serving {
		return m, false, errors.New("it serves no database")
	}
	ctx, cancel := context.WithTimeout(ctx, readBack)
	defer cancel()
	global, err := u.Dialer.Global(ctx, db, "unix:"+u.Paths.Socket(db))
	if err != nil {
		return m, false, err
	}
	defer global.Close()
	ids, err := global.Read(ctx)
	if err != nil {
		return m, false, err
	}
	m, found = parseMark(ids)
	return m, found, nil
}

// unitsToKick says what to type for units that became members and are lost. Starting them comes first, so it is the
// plan of a kick.
func (u *Reconciler) unitsToKick(proofs []recovery.Proof) (ways []string) {
	for _, p := range proofs {
		for _, unit := range p.Units {
			way := fmt.Sprintf("if %s is lost for good: %s", unit.Unit, u.command("kick", "unit="+unit.Unit, "dry-run=true"))
			if unit.Failure != "" && unit.Unit != u.Env.Unit && !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
		}
	}
	return ways
}
