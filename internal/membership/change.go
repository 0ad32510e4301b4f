package membership

import (
	"context"
	"errors"
)

// operation is a change of one database's cluster: a leave, a kick, a restart, or the stop of an unreadable server.
type operation interface {
	// needsLock reports whether the operation must take the database's lock.
	needsLock() bool
	// takeLock takes the lock, and observes again: other units may have changed the membership meanwhile.
	takeLock(context.Context) error
	// act judges once more, makes the change, and returns once the change is proved.
	act(context.Context) error
	// release releases the lock and records the change. Without a lock it does nothing.
	release(context.Context)
}

// change makes the operations of one call, in one database or in both. Every lock is taken here: all operations are
// judged, all locks are taken, all operations are judged again, then they act one after the other, each is proved, and
// at last the locks are released (rules R1, R5, R6).
type change[O operation] struct {
	operations []O
	// judge judges all operations. No database is touched unless all pass, without the locks and under them.
	judge func(context.Context) error
	// begin is called after that, unless it is nil.
	begin func(context.Context)
	// ends reports whether an operation's error prevents the operations after it.
	ends func(error) bool
}

// carryOut returns the error of the judgement or of a lock, otherwise those of the operations.
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
