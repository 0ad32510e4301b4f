package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// operationPatience bounds one operation; the charm's longest waits are a minute each.
const operationPatience = 4 * time.Minute

func (s Step) databases() []lab.DB {
	if s.DB == "" {
		return lab.Databases
	}
	return []lab.DB{lab.DB(s.DB)}
}

// play runs one step, with everything that happens at the same time. It returns errors of the lab, not refusals of
// the charm.
func (w *world) play(ctx context.Context, s Step) error {
	limit := operationPatience
	if s.Do == "insist" {
		limit += recoveryPatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience(limit))
	defer cancel()
	if isFault(s.Do) {
		return w.fault(ctx, s)
	}
	if s.Do == "add" && w.there(s.Unit) == nil {
		if err := w.add(ctx, s.Unit); err != nil {
			return err
		}
	}
	if h := w.there(s.actor()); h != nil {
		stop := w.disturb(ctx, h, s.With)
		defer stop()
	}
	var group sync.WaitGroup
	for _, with := range s.With {
		if !isFault(with.Do) {
			group.Go(func() { w.note(with, w.operate(ctx, with)) })
		}
	}
	w.note(s, w.operate(ctx, s))
	group.Wait()
	return context.Cause(ctx)
}

// note logs the outcome of an operation. Failed and killed hooks are expected.
func (w *world) note(s Step, err error) {
	if err != nil {
		w.say("%s: %v", s, err)
	}
}

func (w *world) operate(ctx context.Context, s Step) error {
	h := w.there(s.Unit)
	switch s.Do {
	case "kick":
		return w.kick(ctx, s)
	case "replace":
		return w.replace(ctx, s)
	}
	if h == nil {
		return nil
	}
	switch s.Do {
	case "add":
		return w.Settle(ctx)
	case "remove":
		if h.Dying() || !w.othersStay(h) {
			return nil
		}
		return w.RemoveUnit(ctx, h.Unit, lab.RemoveOptions{})
	case "remove-force":
		return w.force(ctx, h)
	case "type":
		err := w.typeShown(ctx, h)
		if no := (*refused)(nil); errors.As(err, &no) && len(s.With) == 0 {
			w.fail(no.Error())
		}
		return err
	case "pause":
		err := w.act(ctx, h, "pause")
		if err == nil {
			w.claim(h.Name()+" is paused", func(context.Context) bool { return !h.Running(lab.NB) && !h.Running(lab.SB) })
		}
		return err
	case "resume":
		return w.act(ctx, h, "resume")
	case "restart-services":
		return w.restart(ctx, h, s.Arg)
	case "refresh":
		return w.Refresh(ctx, w.charm.Dir)
	case "configure":
		name, value, _ := strings.Cut(s.Arg, "=")
		if name == electionTimer {
			value = timer(value)
		}
		return w.Configure(ctx, map[string]string{name: value})
	case "update-status":
		return w.UpdateStatus(ctx)
	case "lead":
		return w.SetLeader(ctx, h.Unit)
	case "restart-agent":
		h.RestartAgent()
		return nil
	case "heal":
		return w.heal(ctx, h)
	}
	return w.disasterStep(ctx, h, s)
}

// act runs an action; its failure is an error.
func (w *world) act(ctx context.Context, h *host, action string, args ...string) error {
	if w.has(h, "power-off") {
		return nil // Juju would wait for the machine
	}
	r, err := w.RunAction(ctx, h.Unit, action, args...)
	if err == nil && r.Status != "completed" {
		err = fmt.Errorf("%s %v of %s: %s", action, args, h.Name(), r.Message)
	}
	w.say("%s %s %v: %s %v %s", h.Name(), action, args, r.Status, r.Results, r.Message)
	switch {
	case action == "kick":
		w.claimKick(args, r.Results)
	case err == nil && action == "resume":
		w.claimResumed(h, r.Results)
	}
	return err
}

// restart runs the action, and claims that the servers are new processes.
func (w *world) restart(ctx context.Context, h *host, service string) error {
	before := map[lab.DB]int{}
	for _, db := range lab.Databases {
		before[db], _ = h.ServerPID(db) // 0: it is down, and any will do
	}
	err := w.act(ctx, h, "restart-services", "services="+service)
	if err == nil {
		w.claimRestarted(h, service, before)
	}
	return err
}

// othersStay reports whether another unit of the model stays. If not, the removal of the last unit ends the database,
// too, as the operator wants, and prints the place of its data (docs/how-to/remove-a-unit.md, The last units).
func (w *world) othersStay(h *host) bool {
	return slices.ContainsFunc(w.inModel(), func(o *host) bool { return o != h && !o.Dying() })
}

// force is `juju remove-unit --force`, which costs a member. It is used only if the other members are a quorum.
func (w *world) force(ctx context.Context, h *host) error {
	for _, db := range lab.Databases {
		v := w.look(ctx, db)
		up := 0
		for _, m := range v.members {
			if m.why == Up && m.host != h {
				up++
			}
		}
		if up < len(v.members)/2+1 {
			return nil
		}
	}
	w.begin(h, "gone")
	h.forced = true
	return w.RemoveUnit(ctx, h.Unit, lab.RemoveOptions{Force: true})
}

// kick runs the action on one unit for a present or former member of another.
func (w *world) kick(ctx context.Context, s Step) error {
	w.mu.Lock()
	target := w.hosts[s.Unit]
	w.mu.Unlock()
	from := w.there(s.Other)
	if target == nil || from == nil || from == target {
		return nil
	}
	args := []string{"i-really-mean-it=true"}
	how, flags, _ := strings.Cut(s.Arg, " ")
	switch flags {
	case "force":
		args = append(args, "force=true")
	case "dry-run":
		args = []string{"dry-run=true"}
	}
	id := func(db lab.DB) string {
		ids := target.ids[db]
		if len(ids) == 0 {
			return string(db) + "-identity=0000"
		}
		return string(db) + "-identity=" + ids[len(ids)-1]
	}
	switch how {
	case "unit":
		args = append(args, "unit="+target.Name())
	case "ids":
		args = append(args, id(lab.NB), id(lab.SB))
	default:
		args = append(args, id(lab.DB(how)))
	}
	return w.act(ctx, from, "kick", args...)
}

// replace adds as many units as there are and removes the old ones, in one of the usual orders.
func (w *world) replace(ctx context.Context, s Step) (err error) {
	old := w.inModel()
	remove := func(h *host) error {
		if h.Removed() || w.has(h, "power-off") {
			return nil
		}
		return w.RemoveUnit(ctx, h.Unit, lab.RemoveOptions{})
	}
	for _, h := range old {
		switch {
		case s.Arg == "new-first" || h.Removed():
		case s.Arg == "at-once" || !w.othersStay(h): // its removal continues once the new ones are in the model
			err = errors.Join(err, w.Destroy(h.Unit))
		default:
			err = errors.Join(err, remove(h))
		}
	}
	for i := range old {
		if w.there(s.Unit+i) == nil {
			if failed := w.add(ctx, s.Unit+i); failed != nil {
				return errors.Join(err, failed)
			}
		}
	}
	err = errors.Join(err, w.Settle(ctx))
	for _, h := range old {
		err = errors.Join(err, remove(h))
	}
	return err
}
