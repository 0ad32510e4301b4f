package soak

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// named returns the units, the members and the address of a finding.
func named(d present.Document) (names []string) {
	for _, name := range slices.Concat(strings.Fields(d.Subject), d.Units) {
		isDatabase := slices.ContainsFunc(ovndb.Databases(), func(db ovndb.Database) bool { return db.Short() == name })
		if !isDatabase && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// under returns the command of a finding with a condition, or "".
func under(d present.Document, when finding.Condition) string {
	for _, r := range d.Remedies {
		if r.Condition == string(when) && len(r.Commands) > 0 {
			return r.Commands[0]
		}
	}
	return ""
}

// insists returns the value of again with which a command is repeated, or "".
func insists(all []present.Document) string {
	for _, d := range all {
		line := cmp.Or(under(d, finding.IfSinceLost), under(d, finding.IfQuorumLost))
		if again := parameters(line)["again"]; again != "" {
			return again
		}
	}
	return ""
}

func parameters(line string) map[string]string {
	all := map[string]string{}
	for _, word := range unquoted(strings.Fields(line)) {
		if key, value, is := strings.Cut(word, "="); is {
			all[key] = strings.ReplaceAll(value, `"`, "")
		}
	}
	return all
}

// follow does what a finding of a recovery asks for, with the knowledge which machines are off.
func (w *world) follow(ctx context.Context, h *host, d present.Document) error {
	o, names := w.order, named(d)
	var first *host
	if len(names) > 0 {
		first = w.owns(names[0])
	}
	on := first != nil && !w.has(first, "power-off")
	switch code := finding.Code(d.Code); code {
	case finding.RecoveryCopyDamaged, finding.RecoveryMayReturn:
		if first == h { // its own file
			w.elsewhere(h)
			return nil
		}
		for _, name := range names {
			if lost := w.owns(name); lost != nil && !w.has(lost, "power-off") {
				if err := w.fault(ctx, Step{Do: "power-off", Unit: lost.number}); err != nil {
					return err
				}
			}
		}
	case finding.RecoveryNewerData, finding.RecoveryRunsElsewhere:
		if on {
			o.from = first.number
			return nil
		}
	case finding.RecoveryNoCopy:
		w.elsewhere(h)
	case finding.RecoveryNameUnknown:
		w.mu.Lock()
		o.giveUp = slices.DeleteFunc(o.giveUp, func(name string) bool { return slices.Contains(names, name) })
		w.mu.Unlock()
	case finding.NotInNewCluster:
		if first != nil && !on {
			w.giveUp(ctx, first, first.Name())
		}
	case finding.RecoveryNotRead:
		if first != nil && !on {
			return w.kickLost(ctx, h, first, under(d, finding.IfLost))
		}
	case finding.RecoveryUnderWay:
		return w.enter(ctx, under(d, ""))
	case finding.OldClusterServed:
		return w.stopAt(ctx, d.Address)
	}
	if line := under(d, finding.IfOff); line != "" {
		return w.adopt(ctx, line)
	}
	return nil
}

// adopt types a printed plan that gives up more, if all of that is off, and continues with its values.
func (w *world) adopt(ctx context.Context, line string) error {
	params := parameters(line)
	names := strings.Split(params["give-up"], ",")
	if slices.ContainsFunc(names, func(name string) bool {
		lost := w.owns(name)
		return lost != nil && !w.has(lost, "power-off") && !slices.Contains(w.order.giveUp, name)
	}) {
		return nil
	}
	if err := w.enter(ctx, line); err != nil {
		return err
	}
	if to := w.named(strings.Fields(line)[2]); to != nil {
		w.order.from = to.number
	}
	w.mu.Lock()
	w.order.force = w.order.force || params["force"] == "true"
	w.mu.Unlock()
	for _, name := range names {
		w.giveUp(ctx, w.owns(name), name)
	}
	return nil
}

// elsewhere selects another remaining unit for the command.
func (w *world) elsewhere(h *host) {
	for _, other := range w.inModel() {
		if other != h && !w.has(other, "power-off") && !slices.Contains(w.order.lost, other) {
			w.order.from = other.number
			return
		}
	}
}

// kickLost kicks a lost member of the new cluster, which the printed plan names.
func (w *world) kickLost(ctx context.Context, h, lost *host, plan string) error {
	r, err := w.RunAction(ctx, h.Unit, "kick", "unit="+parameters(plan)["unit"], "force=true", "i-really-mean-it=true")
	w.say("kick of %s: %s %s", lost.Name(), r.Status, r.Message)
	w.mu.Lock()
	if !slices.Contains(w.order.giveUp, lost.Name()) {
		w.order.giveUp = append(w.order.giveUp, lost.Name())
	}
	w.mu.Unlock()
	return err
}

func (w *world) stopAt(ctx context.Context, address string) error {
	for _, other := range w.inModel() {
		for _, db := range lab.Databases {
			if address == ovndb.RaftAddress(ovndb.Database(db.Schema()), other.Address()) {
				return other.Stop(ctx, db)
			}
		}
	}
	return nil
}

// owns returns the host of a present or former unit or member, or nil.
func (w *world) owns(name string) *host {
	if h := w.named(name); h != nil {
		return h
	}
	for _, h := range w.all() {
		for _, db := range lab.Databases {
			if len(name) >= 4 && slices.Contains(h.ids[db], name[:4]) {
				return h
			}
		}
	}
	return nil
}

// asked returns the unit for which the command is typed: another one if it is off, or its machine is turned on.
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

// destroy ends servers for good: their files are deleted.
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
	_ = poll.Wait(ctx, hooksAfter)
	return w.Settle(ctx)
}
