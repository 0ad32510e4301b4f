package maintenance

import (
	"context"
	"slices"
	"time"
)

// Sight is the result of a look at a drain.
type Sight struct {
	Progress
	Claims
}

// Effects are the reads and writes of a [Drainer].
type Effects interface {
	Now() time.Time
	// Look reads the state and changes nothing.
	Look(ctx context.Context) (Sight, error)
	// Move moves the gateways that are left, and looks again. moved is false if no gateway was left.
	Move(ctx context.Context) (x Sight, moved bool, err error)
	// Ask asks every ovn-controller for a sign of life.
	Ask(ctx context.Context) error
	// Sync is Ask, and waits for ovn-northd.
	Sync(ctx context.Context) error
}

// Drainer makes the steps of one node's drain. The command that began or joined the drain has a Drainer, and so has the
// agent, which continues the drain without a command.
type Drainer struct {
	// Limits are the limits of the command, which began to wait at Begun. The agent has none.
	Limits Limits
	Begun  time.Time
	// Own is set for the command: it takes the next step without waiting for another process.
	Own bool
	// Force ignores holds of ports.
	Force bool
	// Unasked is set if the process does not wait for ovn-northd: then nothing is proved.
	Unasked bool

	// Progress is the last observed progress. It is valid if Known.
	Progress Progress
	Known    bool

	watch    watch
	follower follower
	recheck  recheck
	// proof is the proof of this process only: the databases don't record whether another process has proved the drain.
	proof proof
}

// drainInterval is the longest pause of a waiting drain: nothing wakes it at the end of a hold.
const drainInterval = 30 * time.Second

// Step looks at the drain, makes the due changes, and judges the wait. line is for people; it is empty if nothing is
// new. next is when the next step is due if nothing changes. After an error the progress is that of the last successful
// look, and only the timeout ends the wait.
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
		d.proof.move() // an unbound gateway may go to a chassis that was asked before
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

func (d *Drainer) move(ctx context.Context, do Effects) (Sight, error) {
	x, moved, err := do.Move(ctx)
	if moved || err != nil { // if nothing moved, a chassis only needed a moment to follow
		d.proof.move()
	}
	return x, err
}

// prove proves, once nothing is left, that the chassis that took the gateways respond.
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

func (d *Drainer) see(x Sight) {
	p := d.of(x)
	p.Unproved = !d.Unasked && p.Done() && !p.Ended && !d.proof.proved
	d.Progress, d.Known = p, true
}

// of returns the progress without the holds that the drain ignores.
func (d *Drainer) of(x Sight) Progress {
	if d.Force {
		x.Holds = slices.DeleteFunc(slices.Clone(x.Holds), Hold.OfPorts)
	}
	return x.Progress
}

// Stalled reports whether an unfinished drain has made no progress for long.
func (d *Drainer) Stalled(now time.Time) bool {
	p := d.Progress
	return d.Known && !p.Done() && !p.Ended && now.Sub(d.watch.changed) >= stalledAfter
}

// Since returns when the progress last changed.
func (d *Drainer) Since() time.Time { return d.watch.changed }

// Cleared sets the time since which no gateway has been on the node, as followed between two steps. It is zero if that
// is unknown, or if a gateway has come back.
func (d *Drainer) Cleared(since time.Time) { d.watch.done = since }
