package reconcile

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// refuseDying refuses to begin on a unit that is being removed: its hooks make no new cluster, and no other
// unit stops its server for it. Which of those that stay is lost is not known here.
func (u *Reconciler) refuseDying(s plan.State) []string {
	if !s.Dying {
		return nil
	}
	where := "then deploy the application again, and restore the backup there"
	for _, state := range s.Recovery {
		if slices.ContainsFunc(state.Peers, func(p recovery.Peer) bool { return !p.Dying && p.Copy != nil && p.Copy.Cluster == state.Cluster }) {
			where = "then restore the backup on a unit that stays, or, if all of these are lost, deploy the application again, and restore it there"
		}
	}
	return []string{"this unit is being removed, so that it makes no new cluster; to keep its data, run: " + u.command("backup") + "; " + where}
}
