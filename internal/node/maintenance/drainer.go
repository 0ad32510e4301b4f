package maintenance

import (
	"context"
	"slices"
	"time"
)

// Sight is what a look at a drain finds.
type Sight struct {
	Progress
	Claims
}

// Effects are what a [Drainer] reads and does.
type Effects interface {
	Now() time.Time
	// Look reads and changes nothing.
	Look(ctx context.Context) (Sight, error)
	// Move moves the gateways that are left, and looks again. moved is false if none was left.
	Move(ctx context.Context) (x Sight, moved bool, err error)
	// Ask asks every ovn-controller for a sign of life.
	Ask(ctx context.Context) error
	// Sync does the same, and waits for ovn-northd.
	Sync(ctx context.Context) error
}

// Drainer drives the drain of one node by steps. The command that began the drain, or joined it, has one, and so has
// the agent that continues it without a command.
type Drainer struct {
	// Limits are those of the command, which began to wait at Begun. The agent has none.
	Limits Limits
	Begun  time.Time
	// Own is set for the command: it gives no other process time to take the next step.
	Own bool
	// Force waits for no port.
	Force bool
	// Unasked is set to prove nothing, since ovn-northd is not waited for.
	Unasked bool

	// Progress is the last progress seen, if Known.
	Progress Progress
	Known    bool

	watch    watch
	follower follower
	recheck  recheck
	// proof is of what this process has seen: nothing in the databases tells whether another one has proved it.
	proof proof
}

// drainInterval is the longest pause of a drain that waits: the end of a hold is not followed.
const drainInterval = 30 * time.Second

// Step looks at the drain, does what is due, and judges the wait for it. line is for people; it is empty if nothing
// is new. next is when the next step is due if nothing changes. After an error the progress is as it was seen last,
// and the wait ends only by its timeout.
func (d *Drainer) Step(ctx context.Context, do Effects) (outcome Outcome, line string, next time.Time, err error) {
	next, err = d.step(ctx, do)
	now := do.Now()
	if d.Known {
		outcome, line = d.watch.judge(d.Progress, d.Limits, d.Begun, now)
	}
	done := d.Progress.Done() && err == nil
	if err != nil {
		outcome, line = GoOn, ""
		if now.Sub(d.Begun) >= d.Limits.Timeout {
			outcome = TimeOver
		}
	}
	if !done && next.IsZero() {
		next = now.Add(drainInterval)
	}
	return outcome, line, next, err
}

func (d *Drainer) step(ctx context.Context, do Effects) (next time.Time, err error) {
	x, err := do.Look(ctx)
	if err != nil {
		return next, err
	}
	d.see(x)
	now := do.Now()
	due, next := d.follower.look(x.Left, now)
	due = due || d.Own && x.Left > 0
	if d.recheck.due(x.Progress, now) {
		d.proof.move() // what is on no chassis goes to one that was asked before
		if err := do.Sync(ctx); err != nil {
			return next, err
		}
		due = true
	}
	if due {
		if x, err = d.move(ctx, do); err != nil {
			return next, err
		}
		_, next = d.follower.look(x.Left, do.Now())
		d.see(x)
	}
	return next, d.prove(ctx, do, x)
}

// move moves what is left.
func (d *Drainer) move(ctx context.Context, do Effects) (Sight, error) {
	x, moved, err := do.Move(ctx)
	if moved || err != nil { // otherwise a chassis only needed a moment to follow
		d.proof.move()
	}
	return x, err
}

// prove proves that the gateways are where they seem to be, once nothing else is left to do.
func (d *Drainer) prove(ctx context.Context, do Effects, x Sight) (err error) {
	if d.Own && (x.Left > 0 || len(x.Unbound) > 0) {
		d.proof.move()
	}
	if p := d.of(x); d.Unasked || !p.Done() || p.Ended {
		return nil
	}
	d.proof.own = d.Own
	if d.proof.look(x.Claims, do.Now()) {
		err = do.Ask(ctx)
	}
	d.see(x)
	return err
}

// see records the state of the drain, and whether it is proved.
func (d *Drainer) see(x Sight) {
	p := d.of(x)
	p.Unproved = !d.Unasked && p.Done() && !p.Ended && !d.proof.proved
	d.Progress, d.Known = p, true
}

// of is the progress without the holds that the drain does not wait for.
func (d *Drainer) of(x Sight) Progress {
	if d.Force {
		x.Holds = slices.DeleteFunc(slices.Clone(x.Holds), Hold.OfPorts)
	}
	return x.Progress
}

// Stalled reports whether the drain has made no progress for long, though something is left.
func (d *Drainer) Stalled(now time.Time) bool {
	p := d.Progress
	return d.Known && !p.Done() && !p.Ended && now.Sub(d.watch.changed) >= stalledAfter
}

// Since is since when what is left has not changed.
func (d *Drainer) Since() time.Time { return d.watch.changed }

// Cleared sets since when no gateway is on the node, if that was followed between two steps. It is zero if that is not
// known, or if one has come back.
func (d *Drainer) Cleared(since time.Time) { d.watch.done = since }
