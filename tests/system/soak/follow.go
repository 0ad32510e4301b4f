package soak

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"
)

// asked is the unit for which the command is typed. If that unit is off by now, it is given up
// and the command is typed for another one that is left; if there is none its machine is turned on again.
func (w *world) asked(ctx context.Context) (*host, error) {
	h := w.there(w.order.from)
	if h != nil && !w.has(h, "power-off") {
		return h, nil
	}
	for _, other := range w.inModel() {
		if !w.has(other, "power-off") && !slices.Contains(w.order.lost, other) {
			w.say("%s is off, the command is typed for %s", h.Name(), other.Name())
			w.order.from = other.number
			w.giveUp(ctx, h, h.Name())
			return other, nil
		}
	}
	if h == nil {
		return nil, errors.New("no unit is left")
	}
	err := w.powerOn(ctx, h, 0)
	if hookFailed(err) {
		err = nil
	}
	return h, err
}

// giveUp adds a unit, or a member of it, to what is given up.
func (w *world) giveUp(ctx context.Context, h *host, name string) {
	o := w.order
	if slices.Contains(o.giveUp, name) {
		return
	}
	w.mu.Lock()
	o.giveUp = append(o.giveUp, name)
	if h != nil && !slices.Contains(o.lost, h) {
		o.lost = append(o.lost, h)
	}
	w.mu.Unlock()
	if o.action == "recover" {
		w.store(ctx, o.lost)
	}
}

// destroy ends servers for good: with their files they lose what they have stored.
func (w *world) destroy(h *host, s Step) error {
	for _, db := range s.databases() {
		w.begin(h, "destroy "+string(db))
		var err error
		if h.Running(db) {
			err = running(h.Kill(db))
		}
		if gone := os.Remove(h.DBFile(db)); gone != nil && !os.IsNotExist(gone) {
			err = cmp.Or(err, gone)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// powerOn turns a machine on, whose hooks run at once or after a time.
func (w *world) powerOn(ctx context.Context, h *host, hooksAfter time.Duration) error {
	if hooksAfter > 0 && w.order == nil { // else hooks of the operator's commands run beside it
		w.Hold(true)
		defer w.Hold(false)
	}
	h.power.Lock()
	if !w.has(h, "power-off") || h.Removed() {
		h.power.Unlock()
		return nil
	}
	err := h.Boot(ctx)
	if err == nil {
		w.end(h, "power-off")
	}
	h.power.Unlock()
	if err != nil {
		return err
	}
	wait(ctx, hooksAfter)
	return w.Settle(ctx)
}
