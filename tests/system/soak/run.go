package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// endPatience bounds the time until an application has recovered, once faults have stopped and all printed commands are
// typed. If nothing has changed for standstill, and in roundsStill rounds of hooks, nothing will.
const (
	endPatience = 4 * time.Minute
	standstill  = 40 * time.Second
	roundsStill = 8
)

// Result is the outcome of a schedule.
type Result struct {
	Counts
	// Broken is the invariant that was broken in step At, "" if none was.
	Broken string
	At     int
}

// Counts are numbers of what happened.
type Counts struct {
	// Steps is how many steps were played, Faults how many were or had faults, Typed how many printed commands were
	// typed.
	Steps, Faults, Typed int
	// Disasters is how many ended, New how many clusters replaced old ones, Runs how many times an action for recovery
	// ran.
	Disasters, New, Runs int
	// Kept is how many rows of remaining copies all units have in the end, Given how many writes were lost with an old
	// cluster.
	Kept, Given int
}

func (c *Counts) add(o Counts) {
	c.Steps += o.Steps
	c.Faults += o.Faults
	c.Typed += o.Typed
	c.Disasters += o.Disasters
	c.New += o.New
	c.Runs += o.Runs
	c.Kept += o.Kept
	c.Given += o.Given
}

// Run plays a schedule. If it returns an error, the lab failed and there is no result.
func Run(ctx context.Context, s Schedule, charm Charm, log io.Writer) (r Result, err error) {
	w, err := newWorld(ctx, s, charm, log)
	if err != nil {
		return r, fmt.Errorf("cannot deploy: %w", err)
	}
	defer func() {
		if r.Broken != "" {
			r.Broken += "\n" + w.statuses()
		}
		r.Counts, err = w.tally(), errors.Join(err, w.close())
	}()
	for _, db := range lab.Databases { // after the first step there may be no server left to ask
		w.served[db] = w.look(ctx, db).leads
	}
	for i, step := range s.Steps {
		w.step, r.At = i+1, i+1
		w.say("step %d: %s", w.step, step)
		if step.Do == "end" {
			r.Broken, err = w.endDisaster(ctx)
		} else {
			err = w.play(ctx, step)
		}
		if err != nil {
			return r, fmt.Errorf("step %d, %s: %w", w.step, step, err)
		}
		w.counted(func(c *Counts) { c.Steps++ })
		if r.holds(ctx, w.besideBroken, w.judge, w.untrue, w.silent); r.Broken != "" {
			return r, nil
		}
	}
	r.At++
	if r.Broken, err = w.finish(ctx); err == nil {
		r.holds(ctx, w.untrue)
		if !w.needsRecovery(ctx) {
			r.holds(ctx, w.lostWrites)
		}
	}
	return r, err
}

// holds sets the broken invariant, unless one is set already.
func (r *Result) holds(ctx context.Context, invariants ...func(context.Context) string) {
	for _, broken := range invariants {
		if r.Broken == "" {
			r.Broken = broken(ctx)
		}
	}
}

func (w *world) statuses() string {
	var text strings.Builder
	w.PrintStatus(&text)
	return text.String()
}

// judge compares a step's outcome with what is required, and records which databases have a quorum.
func (w *world) judge(ctx context.Context) string {
	for _, db := range lab.Databases {
		var v view
		verdict := Faults
		deadline := time.Now().Add(patience(electionPatience))
		for {
			v = w.look(ctx, db)
			verdict = Cost{Before: w.served[db], Members: v.whys()}.Judge()
			if len(v.members) == 0 && w.history[db] != nil {
				verdict = Faults // the new cluster of a recovery, of which no server was started yet
			}
			if verdict == Faults || verdict == Serves && v.leads || time.Now().After(deadline) || ctx.Err() != nil {
				break
			}
			_ = poll.Wait(ctx, lookEvery)
		}
		w.served[db] = verdict == Serves
		switch {
		case ctx.Err() != nil:
			return ""
		case verdict == OurDoing:
			return fmt.Sprintf("%s: the quorum is lost, by the charm: %s", db, v)
		case verdict == Serves && !v.leads:
			return fmt.Sprintf("%s: a majority is up, and there is no leader after %v: %s", db, electionPatience, v)
		}
	}
	return ""
}

// String returns the configuration with the reason why each member is up or not.
func (v view) String() string {
	words := map[Why]string{Up: "up", New: "down by a fault of this step", Standing: "down by an older fault", Asked: "paused", Ours: "down without a fault"}
	var all []string
	for _, m := range v.members {
		name := "of no unit"
		if m.host != nil {
			name = m.host.Name()
		}
		all = append(all, fmt.Sprintf("%s (%s) %s", m.Short, name, words[m.why]))
	}
	return strings.Join(all, ", ")
}

// finish ends all faults and requires that the application recovers by hooks and by the commands that it prints, or
// asks for a recovery of a quorum that faults have taken: a stale member, for example, and a damaged file.
func (w *world) finish(ctx context.Context) (string, error) {
	w.step++
	w.say("the faults stop")
	for _, h := range w.inModel() {
		if err := w.heal(ctx, h); err != nil && !hookFailed(err) {
			return "", fmt.Errorf("cannot end the faults on %s: %w", h.Name(), err)
		}
		if h.paused() {
			w.note(Step{Do: "resume", Unit: h.number}, w.act(ctx, h, "resume"))
		}
	}
	var why, seen string
	since, rounds := time.Now(), 0
	for deadline := time.Now().Add(patience(endPatience)); ; _ = poll.Wait(ctx, lookEvery) {
		w.runHooks(ctx)
		if why = w.unfinished(ctx); why == "" {
			return "", nil
		}
		w.say("not finished: %s", why)
		if now := why + w.statuses(); now != seen {
			seen, since, rounds = now, time.Now(), 0
		}
		rounds++
		if time.Now().After(deadline) || rounds > roundsStill && time.Since(since) > patience(standstill) {
			if w.needsRecovery(ctx) {
				w.say("faults have taken a quorum for good: %s", why)
				return "", nil
			}
			return "the application does not recover: " + why, nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if refused := w.typeAll(ctx); refused != nil {
			return refused.Error(), nil
		}
	}
}

// needsRecovery reports whether faults have taken a quorum for good, and a unit prints the command for a recovery.
// Recoveries are played by [Disasters].
func (w *world) needsRecovery(ctx context.Context) bool {
	lost := slices.ContainsFunc(lab.Databases, func(db lab.DB) bool { return w.look(ctx, db).lostByFaults() })
	return lost && slices.ContainsFunc(w.inModel(), func(h *host) bool {
		return strings.Contains(h.Workload().Message, " recover dry-run=true")
	})
}

// runHooks runs failed hooks again, continues removals, and runs update-status. It types what failed hooks print.
func (w *world) runHooks(ctx context.Context) {
	for _, h := range w.inModel() {
		if h.Agent().Status == "error" || h.Dying() {
			failed := w.again(ctx, h)
			w.note(Step{Do: "retry", Unit: h.number}, failed)
			w.note(Step{Do: "type", Unit: h.number}, w.typeFailed(ctx, failed))
		}
	}
	w.note(Step{Do: "settle"}, w.Settle(ctx))
	if w.history[lab.NB] != nil {
		w.note(Step{Do: "update-status"}, w.updateStatus(ctx))
	} else {
		w.note(Step{Do: "update-status"}, w.UpdateStatus(ctx))
	}
}

// again continues with a unit whose hook failed, or that is being removed.
func (w *world) again(ctx context.Context, h *host) error {
	if h.Agent().Status == "error" {
		return w.Retry(ctx, h.Unit)
	}
	return w.RemoveUnit(ctx, h.Unit, lab.RemoveOptions{})
}

// typeAll types the commands of the first unit that prints any.
func (w *world) typeAll(ctx context.Context) *refused {
	for _, h := range w.inModel() {
		typed := w.tally().Typed
		err := w.typeFound(ctx, h)
		if no := (*refused)(nil); errors.As(err, &no) {
			return no
		}
		w.note(Step{Do: "type", Unit: h.number}, err)
		if w.tally().Typed > typed {
			return nil
		}
	}
	return nil
}

func hookFailed(err error) bool {
	hook := (*lab.HookError)(nil)
	return errors.As(err, &hook) || errors.Is(err, lab.ErrKilled)
}

// unfinished returns why not every unit is active, or the members are not exactly the units' servers; "" once they
// are.
func (w *world) unfinished(ctx context.Context) string {
	units := w.inModel()
	for _, h := range units {
		if h.Dying() {
			return h.Name() + " has not gone"
		}
		if s := h.Workload(); s.Status != "active" || strings.Contains(s.Message, " kick ") {
			return fmt.Sprintf("%s is %s: %s", h.Name(), s.Status, s.Message)
		}
	}
	for _, db := range lab.Databases {
		v := w.look(ctx, db)
		if !v.leads || len(v.members) != len(units) {
			return fmt.Sprintf("%s has %d members for %d units, leader %t: %s", db, len(v.members), len(units), v.leads, v)
		}
		for _, m := range v.members {
			if m.why != Up {
				return fmt.Sprintf("%s: %s", db, v)
			}
		}
		for _, h := range units {
			if s, err := h.raft(ctx, db); err != nil || !s.HasLeader() || len(s.Servers) != len(units) {
				return fmt.Sprintf("%s of %s has not %d members and a leader: %v", db, h.Name(), len(units), err)
			}
		}
	}
	return ""
}

// silent returns a unit that is waiting or blocked without a message.
func (w *world) silent(context.Context) string {
	for _, h := range w.inModel() {
		if s := h.Workload(); !h.Dying() && (s.Status == "waiting" || s.Status == "blocked") && s.Message == "" {
			return fmt.Sprintf("%s is %s, and does not say why", h.Name(), s.Status)
		}
	}
	return ""
}
