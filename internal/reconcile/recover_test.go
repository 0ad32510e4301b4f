package reconcile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// beingMade is what a unit knows that has made a new cluster for a request.
func beingMade(r recovery.Request) map[ovndb.Database]recovery.State {
	old := observetest.Cluster(ovndb.NB)
	r.Cluster, r.New = old, observetest.Cluster(ovndb.SB)
	return map[ovndb.Database]recovery.State{ovndb.NB: {Cluster: old, Own: &recovery.Copy{Cluster: old, Stopped: true}, Request: &r, Staged: r.New}}
}

// What an operator types while the new cluster of another command is made is not what would be
// published, and then proved.
func TestOtherDataAreNotTakenForThoseWhoseNewClusterIsMade(t *testing.T) {
	t.Parallel()
	u := playedUnit(observetest.Three(t), new(observetest.Machine))
	const one, two = "/var/backups/ovn-central/20261123T190312Z", "/var/backups/ovn-central/20261124T190312Z"
	const way = "nb: another recovery or restore is under way, whose new cluster is made; to go on with it, run: juju run ovn-central/0 "
	for name, c := range map[string]struct {
		made, typed string
		refusals    []string
	}{
		"the same backup":              {made: one, typed: one},
		"another backup":               {one, two, []string{way + "restore from=" + one + " database=nb i-really-mean-it=true"}},
		"this unit's file":             {one, "", []string{way + "restore from=" + one + " database=nb i-really-mean-it=true"}},
		"a backup after a recovery":    {"", two, []string{way + "recover database=nb i-really-mean-it=true"}},
		"the same unit's file, as yet": {},
	} {
		typed := RecoverRequest{Databases: []ovndb.Database{ovndb.NB}, Backup: c.typed}
		asked, refusals := u.judgeRecovery(new(record), typed, beingMade(recovery.Request{Backup: c.made}), new(RecoverResult))
		assert.Equal(t, c.refusals, refusals, name)
		assert.Len(t, asked, 1-len(c.refusals), name)
	}
}
