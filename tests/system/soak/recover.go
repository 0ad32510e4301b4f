package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// recoveryPatience bounds a recovery whose command is repeated and whose output is followed.
const recoveryPatience = 5 * time.Minute

// order is a command that an operator repeats in a disaster, until it has ended or reports something else.
type order struct {
	action string
	// from is the unit for which the command is typed.
	from int
	args []string
	// giveUp are the names in give-up, and lost the hosts that they mean.
	giveUp []string
	lost   []*host
	// force gives up newer data of lost units.
	force bool
	// begun reports whether the command has begun something.
	begun bool
	// again is the value of the parameter again, if the command is refused without it.
	again string
}

// disasterStep runs a step that only disasters have.
func (w *world) disasterStep(ctx context.Context, h *host, s Step) error {
	switch s.Do {
	case "write":
		return w.awaitWrites(ctx, s)
	case "notice":
		w.awaitLoss(ctx, s)
		return w.updateStatus(ctx)
	case "backup":
		if w.has(h, "power-off") {
			return nil
		}
		return w.backUp(ctx, h)
	case "recover", "restore":
		w.command(ctx, s)
		_, _, err := w.typeOrder(ctx, h)
		return err
	case "insist":
		w.command(ctx, s)
		return w.insist(ctx, s)
	}
	return fmt.Errorf("no operation is called %q", s.Do)
}

// awaitWrites waits for so many more writes to each database, if there is a quorum.
func (w *world) awaitWrites(ctx context.Context, s Step) error {
	n, err := strconv.Atoi(s.Arg)
	if err != nil {
		return err
	}
	before := map[lab.DB]int{}
	for _, db := range lab.Databases {
		before[db] = w.writer.Acknowledged(db)
	}
	w.awaits(ctx, 20*time.Second, func() bool {
		return !slices.ContainsFunc(lab.Databases, func(db lab.DB) bool { return w.writer.Acknowledged(db) < before[db]+n })
	})
	return nil
}

// command decides, once for each disaster, which command is typed. It gives up everything lost, by units' names or
// members' IDs.
func (w *world) command(ctx context.Context, s Step) {
	if w.order != nil {
		return
	}
	o := &order{action: "recover", from: s.Unit}
	if s.Do == "restore" {
		o.action = "restore"
		o.args = append(o.args, "from="+w.backup)
	} else {
		w.awaitLoss(ctx, s)
	}
	if s.DB != "" {
		o.args = append(o.args, "database="+s.DB)
	}
	o.args = append(o.args, "i-really-mean-it=true")
	for _, h := range w.inModel() {
		if !w.has(h, "power-off") && !w.has(h, "destroy nb") && !w.has(h, "destroy sb") {
			continue
		}
		o.lost = append(o.lost, h)
		names := []string{h.Name()}
		if s.Arg == "ids" {
			if ids := w.identities(ctx, h); len(ids) > 0 {
				names = ids
			}
		}
		o.giveUp = append(o.giveUp, names...)
	}
	w.order = o
	if o.action == "restore" {
		w.storeBackup()
	} else {
		w.store(ctx, o.lost)
	}
}

// awaitLoss waits until the remaining servers have noticed that there is no leader, unless there is one.
func (w *world) awaitLoss(ctx context.Context, s Step) {
	w.awaits(ctx, 15*time.Second, func() bool {
		return !slices.ContainsFunc(s.databases(), func(db lab.DB) bool {
			return slices.ContainsFunc(w.ask(ctx, db), raft.Status.HasLeader)
		})
	})
}

// awaits waits for a condition, for at most the time that an idle machine needs.
func (w *world) awaits(ctx context.Context, most time.Duration, condition func() bool) {
	for deadline := time.Now().Add(patience(most)); !condition() && time.Now().Before(deadline) && ctx.Err() == nil; {
		_ = poll.Wait(ctx, lookPause)
	}
}

func (w *world) identities(ctx context.Context, h *host) (ids []string) {
	for _, db := range lab.Databases {
		for _, m := range w.look(ctx, db).members {
			if m.host == h {
				ids = append(ids, m.Short)
			}
		}
	}
	return ids
}

func (w *world) typeOrder(ctx context.Context, h *host) (r lab.ActionResult, found cluster.Findings, err error) {
	if w.has(h, "power-off") {
		return r, nil, lab.ErrLost
	}
	w.mu.Lock()
	args := slices.Clone(w.order.args)
	if len(w.order.giveUp) > 0 {
		args = append(args, "give-up="+strings.Join(w.order.giveUp, ","))
		if w.order.force {
			args = append(args, "force=true")
		}
	}
	if w.order.again != "" {
		args = append(args, "again="+w.order.again)
	}
	w.counts.Runs++
	w.mu.Unlock()
	r, found, err = w.finds(ctx, h, w.order.action, args...)
	w.mu.Lock()
	w.order.begun = w.order.begun || r.Status == "completed" && r.Results["status"] != ""
	w.order.again = ""
	if !w.order.begun {
		w.order.again = insists(found)
	}
	w.mu.Unlock()
	return r, found, err
}

// finds runs an action, and reads its findings; a killed action has none.
func (w *world) finds(ctx context.Context, h *host, action string, args ...string) (r lab.ActionResult, found cluster.Findings, err error) {
	r, err = w.RunAction(ctx, h.Unit, action, append(args, "format=json")...)
	w.say("%s %s %v: %s %v %s", h.Name(), action, args, r.Status, r.Results, r.Message)
	if text, is := r.Results["findings"]; is && err == nil {
		found, err = cluster.ReadFindings(text)
	}
	return r, found, err
}

// insist types the command until the action has proved that the new cluster serves, or says that there is a quorum. It
// does what the action prints. A recovery that does not end, and a refusal without a way out, break an invariant.
func (w *world) insist(ctx context.Context, s Step) error {
	o := w.order
	o.from = s.Unit
	defer w.hooksGoOn(ctx)()
	mute := 0
	var last string
	for deadline := time.Now().Add(patience(recoveryPatience)); ctx.Err() == nil; _ = poll.Wait(ctx, lookEvery) {
		if time.Now().After(deadline) {
			w.fail("the recovery ends: " + last)
			return nil
		}
		h, err := w.asked(ctx)
		if err != nil {
			return err
		}
		r, found, err := w.typeOrder(ctx, h)
		w.note(s, err)
		if err == nil && r.Status == "completed" && w.order.again == "" {
			r, found, err = w.finds(ctx, h, "recovery-status")
			w.note(s, err)
		}
		if r.Status == "completed" && found.Has(finding.RecoveryProved, "") {
			return nil
		}
		last = r.Message + "\n" + found.String()
		if r.Status == "completed" || len(found) > 0 || r.Results["return-code"] != "0" {
			mute = 0
		} else if mute++; mute > 5 {
			w.fail("a refusal says what to do: " + last)
			return nil
		}
		if r.Status == "failed" && found.Has(finding.RecoveryHasQuorum, "") && w.quorum(ctx, s) {
			return nil
		}
		for _, d := range found {
			w.note(s, w.follow(ctx, h, d))
		}
		_ = poll.Wait(ctx, 2*time.Second)
	}
	return nil
}

// hooksGoOn runs the hooks of all units in the background, until stop.
func (w *world) hooksGoOn(ctx context.Context) (stop func()) {
	w.Hold(true) // what is typed waits for no other unit's hooks
	inner, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		for inner.Err() == nil {
			w.note(Step{Do: "settle"}, w.Settle(ctx))
			w.note(Step{Do: "update-status"}, w.updateStatus(ctx))
			_ = poll.Wait(inner, time.Second)
		}
	})
	return func() {
		cancel()
		group.Wait()
		w.Hold(false)
	}
}

// updateStatus runs update-status on all units at the same time, or the failed hook again.
func (w *world) updateStatus(ctx context.Context) error {
	hosts := slices.DeleteFunc(w.inModel(), func(h *host) bool { return w.has(h, "power-off") || h.Dying() })
	errs := make([]error, len(hosts))
	var group sync.WaitGroup
	for i, h := range hosts {
		group.Go(func() {
			if h.Agent().Status == "error" {
				errs[i] = w.Retry(ctx, h.Unit) // as Juju does by itself
			} else {
				errs[i] = w.RunHook(ctx, h.Unit, "update-status")
			}
		})
	}
	group.Wait()
	return errors.Join(errors.Join(errs...), w.Settle(ctx))
}

// quorum reports whether each database of the step has a leader, so that there is nothing to recover.
func (w *world) quorum(ctx context.Context, s Step) bool {
	return !slices.ContainsFunc(s.databases(), func(db lab.DB) bool { return !w.look(ctx, db).leads })
}

// inBackground runs do beside the step, which it may outlast.
func (w *world) inBackground(ctx context.Context, s Step, do func(context.Context) error) {
	w.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience(operationPatience))
		defer cancel()
		w.note(s, do(ctx))
	})
}

// endDisaster returns everything that was lost, and requires that the application recovers with its data.
func (w *world) endDisaster(ctx context.Context) (string, error) {
	w.mu.Lock()
	for _, end := range w.ends {
		end.Stop()
	}
	w.mu.Unlock()
	w.background.Wait()
	w.Hold(false)
	what, err := w.finish(ctx)
	if what == "" && err == nil {
		what = w.kept(ctx)
	}
	w.order = nil
	if what == "" {
		w.counted(func(c *Counts) { c.Disasters++ })
	}
	return what, err
}
