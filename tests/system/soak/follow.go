package soak

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// asked is the unit for which the command is typed: another one that is left where it is off
// by now, which is given up then; and where there is none its machine is turned on again.
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

// follow does what a way out says.
func (w *world) follow(ctx context.Context, h *host, out way) error {
	o, named := w.order, w.named(out.name)
	switch out.do {
	case force:
		if named != nil && w.has(named, "power-off") {
			w.say("%s is lost with the newest copy", out.name)
			o.force = true
			w.giveUp(ctx, named, out.name)
		} else if named != nil {
			o.from = named.number
		}
	case runThere:
		if named != nil && !w.has(named, "power-off") {
			o.from = named.number
		} else if named != nil {
			w.giveUp(ctx, named, out.name)
		}
	case start:
		if named != nil && w.has(named, "power-off") {
			w.giveUp(ctx, named, out.name)
		}
	case giveUp:
		if named == nil {
			named = w.member(out.name)
		}
		if named != nil && !w.has(named, "power-off") {
			if err := w.fault(ctx, Step{Do: "power-off", Unit: named.number}); err != nil {
				return err
			}
		}
		w.giveUp(ctx, named, out.name)
	case runOther:
		for _, other := range w.inModel() {
			if other != h && !w.has(other, "power-off") && !slices.Contains(o.lost, other) {
				o.from = other.number
				return nil
			}
		}
	case notAName:
		w.mu.Lock()
		o.giveUp = slices.DeleteFunc(o.giveUp, func(name string) bool { return name == out.name })
		w.mu.Unlock()
	case kickLost:
		if named != nil && w.has(named, "power-off") {
			r, err := w.RunAction(ctx, h.Unit, "kick", "unit="+named.Name(), "force=true", "i-really-mean-it=true")
			w.say("kick of %s: %s %s", named.Name(), r.Status, r.Message)
			if w.mu.Lock(); !slices.Contains(o.giveUp, named.Name()) {
				o.giveUp = append(o.giveUp, named.Name())
			}
			w.mu.Unlock()
			return err
		}
	case stopServer:
		for _, other := range w.inModel() {
			for _, db := range lab.Databases {
				if strings.Contains(out.name, other.Address()) && strings.Contains(out.name, map[lab.DB]string{lab.NB: "6643", lab.SB: "6644"}[db]) {
					return other.Stop(ctx, db)
				}
			}
		}
	}
	return nil
}

// member is the host of a member's four digits.
func (w *world) member(short string) *host {
	for _, h := range w.all() {
		for _, db := range lab.Databases {
			if slices.Contains(h.ids[db], short) {
				return h
			}
		}
	}
	return nil
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
	if hooksAfter > 0 && w.order == nil { // else hooks of the operator's go on beside it
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
