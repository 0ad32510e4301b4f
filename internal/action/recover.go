package action

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// clientsAfter is what clients have to be told after their database was put in the place
// of another: its log begins anew, and they take that for old data (ovsdb_cs in OVS).
var clientsAfter = []string{
	"on every chassis: ovn-appctl -t ovn-controller sb-cluster-state-reset",
	"with OpenStack: restart neutron-server and the metadata agents, then run neutron-ovn-db-sync-util",
}

// recoverQuorum makes new clusters of what this unit has.
func recoverQuorum(ctx context.Context, u Unit, p params) (results, error) {
	return u.recover(ctx, p, "")
}

// restore makes new clusters of a backup.
func restore(ctx context.Context, u Unit, p params) (results, error) {
	from, err := p.text("from")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(from) {
		return nil, fmt.Errorf("parameter from is %q: it must be an absolute path, of a backup on this machine", from)
	}
	from = filepath.Clean(from) // by which a backup that was restored is known
	shown, err := u.recover(ctx, p, from)
	return shown, u.withBackups(from, err)
}

func (u Unit) recover(ctx context.Context, p params, from string) (results, error) {
	r := reconcile.RecoverRequest{Backup: from}
	var err error
	if r.Databases, err = p.databases(); err != nil {
		return nil, err
	}
	if r.GivenUp, err = p.names("give-up"); err != nil {
		return nil, err
	}
	if r.Force, err = p.flag("force"); err != nil {
		return nil, err
	}
	if r.Confirmed, err = p.flag("i-really-mean-it"); err != nil {
		return nil, err
	}
	if r.DryRun, err = p.flag("dry-run"); err != nil {
		return nil, err
	}
	if r.Again, err = p.flag("again"); err != nil {
		return nil, err
	}
	found, failure := u.Reconciler.Recover(ctx, r)
	if len(found.Done) > 0 {
		next := []string{"for progress and proof, run: " + u.command("recovery-status")}
		if from != "" {
			next = append(next, "to restore it again, and lose what was written since, add again=true")
		}
		return results{"result": "nothing was done\n" + lines(found.Done), "next": lines(next)}, failure
	}
	shown := results{}
	if len(found.Plan) > 0 {
		shown["plan"] = lines(found.Plan)
	}
	if len(found.Lacking) > 0 && failure == nil { // else it is the message
		var all []string
		for _, refusal := range found.Lacking {
			all = append(all, refusal.String())
		}
		shown["lacking"] = lines(all)
	}
	if next := u.completed(found); len(next) > 0 {
		shown["next"] = lines(next)
	}
	if len(found.Waiting) > 0 && found.Result == nil {
		shown["waiting"] = lines(found.Waiting)
	}
	if found.Result != nil {
		word, text := u.Reconciler.Status(*found.Result)
		shown["status"] = fmt.Sprintf("%s: %s", word, text)
		all := "all units"
		if len(found.GiveUp) > 0 {
			all += " but those given up"
		}
		shown["next"] = lines(append([]string{
			"watch juju status until " + all + " are active, then run: " + u.command("recovery-status") +
				" (it writes to the new cluster and reads that back from each unit)",
		}, clientsAfter...))
		failure = errors.Join(failure, u.Tools.StatusSet(ctx, word, text))
	}
	return shown, failure
}

// completed is the command to type after a judgement, whole on its line, under the condition that what it gives up is
// lost.
func (u Unit) completed(found reconcile.RecoverResult) (next []string) {
	line := u.Env.Version.Render(found.Next)
	if line == "" {
		return nil
	}
	switch len(found.GiveUp) {
	case 0:
	case 1:
		next = append(next, "if "+found.GiveUp[0]+" is lost for good, power it off, then:")
	default:
		next = append(next, "if "+recovery.List(found.GiveUp)+" are lost for good, power them off, then:")
	}
	return append(next, line)
}

// prove shows what was seen of clusters that were written to.
func (r results) prove(proofs []recovery.Proof) {
	var proof []string
	for _, p := range proofs {
		proof = append(proof, p.Lines()...)
	}
	if len(proof) > 0 {
		r["proof"] = lines(proof)
	}
}

// recoveryStatus shows how far recoveries and restores are, and proves what they have made.
func recoveryStatus(ctx context.Context, u Unit, _ params) (results, error) {
	found, failure := u.Reconciler.RecoveryStatus(ctx)
	shown := results{}
	if len(found.Made) > 0 {
		shown["recovery"] = lines(found.Made)
	}
	if len(found.Running) > 0 {
		shown["waiting"] = lines(found.Running)
	}
	shown.prove(found.Proofs)
	switch {
	case failure != nil:
	case found.Proven() && len(found.Running) == 0:
		shown["next"] = lines(append([]string{afterProof(found.Proofs)}, clientsAfter...))
	case len(found.Running) > 0 || len(found.Proofs) > 0:
		shown["next"] = lines([]string{"wait until all units are active, then run: " + u.command("recovery-status")})
	case len(found.Made) == 0:
		shown["recovery"] = "no recovery or restore has made these clusters, and none is running\n"
	}
	return shown, failure
}

// afterProof is what an operator does after a complete proof.
func afterProof(proofs []recovery.Proof) string {
	var gone []string
	members := math.MaxInt
	for _, p := range proofs {
		n := 0
		for _, unit := range p.Units {
			if unit.Member {
				n++
			} else if !slices.Contains(gone, unit.Unit) {
				gone = append(gone, unit.Unit)
			}
		}
		members = min(members, n)
	}
	next := "it is proved: every unit serves the new cluster"
	if len(gone) > 0 {
		slices.SortFunc(gone, unitname.Compare)
		next = "it is proved: every other unit serves the new cluster; remove those that were given up: juju remove-unit --force " + strings.Join(gone, " ")
	}
	if members < 3 {
		next += "; add units until there are three again"
	}
	return next
}

// databases are the one that is named; none stands for all.
func (p params) databases() ([]ovndb.Database, error) {
	name, err := p.text("database")
	for _, db := range ovndb.Databases() {
		if db.Short() == name {
			return []ovndb.Database{db}, err
		}
	}
	return nil, err
}

// rejoin has a new server join in the place of one that can't be started any more.
func rejoin(ctx context.Context, u Unit, p params) (results, error) {
	var (
		r   reconcile.RejoinRequest
		err error
	)
	if r.Databases, err = p.databases(); err != nil {
		return nil, err
	}
	if r.Confirmed, err = p.flag("i-really-mean-it"); err != nil {
		return nil, err
	}
	if r.DryRun, err = p.flag("dry-run"); err != nil {
		return nil, err
	}
	found, failure := u.Reconciler.Rejoin(ctx, r)
	shown := results{}
	if len(found.Plan) > 0 {
		shown["plan"] = lines(found.Plan)
	}
	shown.prove(found.Proofs)
	if found.Result != nil {
		word, text := u.Reconciler.Status(*found.Result)
		shown["status"] = fmt.Sprintf("%s: %s", word, text)
		if len(found.Proofs) == 0 {
			shown["next"] = lines([]string{"once this unit is active, run the same command again: it writes to the database and reads that back from each unit"})
		}
		failure = errors.Join(failure, u.Tools.StatusSet(ctx, word, text))
	}
	return shown, failure
}
