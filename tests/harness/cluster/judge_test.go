package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJudgeFindsWhatIsFalseOrHarmful(t *testing.T) {
	calm := Scene{Certified: true}
	moving := Scene{Certified: true, Moving: true}
	down := Scene{Certified: true, Down: []string{"ovn-central/1"}}
	blackout := Scene{Certified: true, Moving: true, Down: []string{"ovn-central/0", "ovn-central/1"}, Blackout: true}
	tests := map[string]struct {
		scene   Scene
		word    string
		message string
		why     string
	}{
		"well":                         {calm, "active", "nb: leader, sb: follower; 3 of 3 up", ""},
		"before the CA":                {Scene{}, "blocked", "'certificates' missing", ""},
		"J9, after it":                 {moving, "blocked", "'certificates' missing", "the relation is there"},
		"J4":                           {moving, "blocked", "no unit has cluster 1f2e any more; deploy the application again", "to deploy again loses the data"},
		"F8":                           {moving, "blocked", "move /var/lib/ovn/ovnnb_db.db away", "to move a database away loses a member, and none is in the way"},
		"J5":                           {moving, "blocked", "nb: no quorum", "there is a quorum all the time"},
		"J3":                           {moving, "active", "stale member ovn-central/0 (nb a1b2 at ssl:10.0.0.1:6643, down)", "ovn-central/0 is not down, and leaves by itself"},
		"J3, with its command":         {moving, "active", "stale member ovn-central/0; run: juju run ovn-central/1 kick unit=ovn-central/0 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", "no member is down, none is to be kicked"},
		"one that is really stale":     {down, "active", "stale member ovn-central/1; run: juju run ovn-central/0 kick unit=ovn-central/1 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", ""},
		"another than the one":         {down, "active", "stale member ovn-central/0; run: juju run ovn-central/1 kick unit=ovn-central/0 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", "ovn-central/0 is not down, and leaves by itself"},
		"P1: on a machine that is off": {down, "active", "stale member ovn-central/1; run: juju run ovn-central/1 kick unit=ovn-central/1 i-really-mean-it=true (nb a1b2 at ssl:10.0.0.1:6643, down)", "the machine of ovn-central/1 is off, and runs no command"},
		"all are up":                   {calm, "active", "2 of 3 up", "all members are up"},
		"one is down":                  {down, "active", "2 of 3 up", ""},
		"on its way":                   {moving, "active", "3 of 4 up", ""},
		"a hook failed":                {moving, "error", `hook failed: "stop"`, "no hook may fail here"},
		"J7: the command is cut off":   {down, "waiting", strings.Repeat("x", 117) + "juju run", "juju status cuts the command off"},
		"its beginning is shown":       {down, "waiting", "x: juju run ovn-central/0 kick", ""},
		"force, of one that runs":      {Scene{Down: []string{"ovn-central/1"}, Cut: true}, "waiting", "juju run ovn-central/0 kick unit=ovn-central/1 force=true", ""},
		"a bad option":                 {Scene{Certified: true, Refused: true}, "blocked", "ovsdb-server-election-timer", ""},
		"all are off":                  {blackout, "blocked", "nb: no quorum", ""},
		"all are off, and that is all": {blackout, "blocked", "deploy it again", "to deploy again loses the data"},
		"force, where nothing is bad":  {down, "waiting", "juju run ovn-central/0 kick unit=ovn-central/1 force=true", "nothing here needs force"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.why, Judge(test.scene, test.word, test.message))
		})
	}
}
