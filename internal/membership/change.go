package membership

import (
	"context"
	"errors"
)

// operation is a change in one database's cluster: a leave, a kick, a restart, or the stop of a
// server that can't be asked.
type operation interface {
	// needsLock reports whether something is to be done that needs the database's lock.
	needsLock() bool
	// takeLock takes it, and observes again: others may have changed the membership
	// while this unit waited.
	takeLock(context.Context) error
	// act judges once more, right before what can't be taken back, acts, and returns
	// when it is proved to be done.
	act(context.Context) error
	// release gives the lock back with the record of what was done. Without a lock it
	// does nothing.
	release(context.Context)
}

// change is what one call changes, in one database or in both. It is the only way to a
// lock, and so to a change: all are judged, then all locks are taken, then all are judged
// again, then one after the other acts and is proved, and at last the locks are given back
// (rules R1, R5, R6).
type change[O operation] struct {
	operations []O
	// judge judges all operations. Its error ends the change: no database is touched
	// before all have passed, without the lock and under it.
	judge func(context.Context) error
	// begin is called once they have; nil does nothing.
	begin func(context.Context)
	// ends reports whether the error of one operation leaves those after it untouched.
	ends func(error) bool
}

// carryOut returns the error of the judgement or of a lock, else what the operations
// returned.
func (c change[O]) carryOut(ctx context.Context) error {
	defer func() {
		for _, o := range c.operations {
			o.release(ctx)
		}
	}()
	if err := c.judge(ctx); err != nil {
		return err
	}
	for _, o := range c.operations {
		if !o.needsLock() {
			continue
		}
		if err := o.takeLock(ctx); err != nil {
			return err
		}
	}
	if err := c.judge(ctx); err != nil {
		return err
	}
	if c.begin != nil {
		c.begin(ctx)
	}
	var failures []error
	for _, o := range c.operations {
		err := o.act(ctx)
		if err != nil && c.ends(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// always ends a change with the first operation that fails.
func always(error) bool { return true }
