package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// claim is a statement of the charm that is checked after the step.
type claim struct {
	text string
	true func(context.Context) bool
}

func (w *world) claim(text string, holds func(context.Context) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claims = append(w.claims, claim{text, holds})
}

// fail makes the step break an invariant.
func (w *world) fail(text string) { w.claim(text, func(context.Context) bool { return false }) }

// claimKick claims that removed members are in no configuration.
func (w *world) claimKick(args []string, results map[string]string) {
	if slices.Contains(args, "dry-run=true") {
		return
	}
	for _, db := range lab.Databases {
		outcome := cluster.Outcome(results["ovn"+string(db)])
		if outcome != membership.Removed && outcome != membership.AlreadyGone {
			continue
		}
		var ids []string
		for _, arg := range args {
			if id, is := strings.CutPrefix(arg, string(db)+"-identity="); is {
				ids = append(ids, id[:min(4, len(id))])
			}
			if name, is := strings.CutPrefix(arg, "unit="); is {
				if h := w.named(name); h != nil && h.Removed() {
					ids = append(ids, h.ids[db]...)
				}
			}
		}
		w.claim(fmt.Sprintf("%s %v: %s", db, ids, outcome), func(ctx context.Context) bool {
			v := w.look(ctx, db)
			return !v.leads || !slices.ContainsFunc(v.members, func(m member) bool { return slices.Contains(ids, m.Short) })
		})
	}
}

// claimResumed: a unit that reports active again has its servers running, unless a later fault has ended them.
func (w *world) claimResumed(h *host, results map[string]string) {
	if !strings.HasPrefix(results["status"], "active") {
		return
	}
	w.claim(h.Name()+" is resumed: "+results["status"], func(context.Context) bool {
		return h.Removed() || !slices.ContainsFunc(lab.Databases, func(db lab.DB) bool { return w.why(h, db) == Ours })
	})
}

// claimRestarted: restarted servers are new processes that run, unless a later fault has ended them.
func (w *world) claimRestarted(h *host, service string, before map[lab.DB]int) {
	for _, db := range lab.Databases {
		if service != "ovn-central" && service != db.Service() {
			continue
		}
		w.claim(fmt.Sprintf("the %s server of %s is restarted", db, h.Name()), func(context.Context) bool {
			pid, err := h.ServerPID(db)
			return h.Removed() || err == nil && pid != before[db] || err != nil && w.why(h, db) != Ours
		})
	}
}

// untrue returns the first false claim of the step.
func (w *world) untrue(ctx context.Context) string {
	w.mu.Lock()
	claims := w.claims
	w.claims = nil
	w.mu.Unlock()
	for _, c := range claims {
		if !c.true(ctx) && ctx.Err() == nil {
			return "what was said does not hold: " + c.text
		}
	}
	return ""
}
