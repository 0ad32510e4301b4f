package maintenance

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Takeover proves that the chassis that take what a drain moves have set their flows. They are asked for a sign of
// life in the transaction that writes the ranks, and ovn-northd brings both to SB in one as well: ovn-controller
// follows nb_cfg once it has set the flows of what came with it (Chassis_Private in ovn-sb(5)), and those of a
// gateway follow from its ranks and from which chassis it hears (is_chassis_resident_cb() in controller/lflow.c of
// OVN 22.03 to 24.03). One that has followed before it had claimed a gateway did not hear the others yet: that
// proves nothing, nor does it where a chassis is a new candidate, or where another process has moved a gateway. Then it
// must be asked once more.
type Takeover struct {
	// Joined says that the drain was begun before: what has moved then is not seen.
	Joined bool
	// asked is nb_cfg as it was raised with the ranks that were written last; 0 is not at all.
	asked int64
	// takers are the chassis that take each port, seen the ports that were on the node.
	takers map[string]string
	seen   []string
	// follows is the nb_cfg that each chassis has followed.
	follows map[string]int64
	// failed says that it proves nothing.
	failed bool
}

// Written is told which changes were written, and the nb_cfg that was asked for with the last of them.
func (t *Takeover) Written(changes []schedule.Change, asked int64) {
	if len(changes) == 0 {
		return
	}
	if t.takers == nil {
		t.takers = map[string]string{}
	}
	t.asked, t.failed = asked, t.failed || asked == 0
	for _, c := range changes {
		if c.From() == c.To() {
			continue
		}
		was := func(x schedule.Candidate) bool { return x.Chassis == c.To() }
		t.failed = t.failed || !slices.ContainsFunc(c.Before, was)
		for _, p := range c.Ports {
			t.takers[p.Name] = c.To()
		}
	}
}

// Observe is told of each look, in the order of time.
func (t *Takeover) Observe(p Progress) {
	t.follows = p.Follows
	for _, port := range slices.Concat(p.Ports, p.Unbound) {
		if !slices.Contains(t.seen, port) {
			t.seen = append(t.seen, port)
		}
		if t.asked == 0 {
			continue
		}
		if followed, known := p.Follows[t.takers[port]]; known && followed >= t.asked {
			t.failed = true
		}
	}
}

// Proved says whether all of them have followed, of what was written last. One that has no row to follow with is not
// known to lag.
func (t *Takeover) Proved() bool {
	unmoved := func(port string) bool { return t.takers[port] == "" }
	if t.asked == 0 || t.failed || t.Joined || slices.ContainsFunc(t.seen, unmoved) {
		return false
	}
	for _, chassis := range t.takers {
		if followed, known := t.follows[chassis]; known && followed < t.asked {
			return false
		}
	}
	return true
}
