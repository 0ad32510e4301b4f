package soak

import (
	"context"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

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
