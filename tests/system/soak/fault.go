package soak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// disturb triggers the faults of a step at their calls.
func (w *world) disturb(ctx context.Context, h *host, with []Step) (stop func()) {
	var mu sync.Mutex
	n := 0
	h.OnCall(func(string) {
		mu.Lock()
		defer mu.Unlock()
		n++
		for _, s := range with {
			if isFault(s.Do) && s.Call == n {
				w.note(s, w.fault(ctx, s))
			}
		}
	})
	return func() {
		h.OnCall(nil)
		h.OnTool(nil)
		mu.Lock()
		defer mu.Unlock()
		w.say("%s made %d calls", h.Name(), n)
	}
}

func (w *world) fault(ctx context.Context, s Step) error {
	h := w.there(s.Unit)
	if h == nil || w.has(h, "power-off") != (s.Do == "power-on") {
		return nil
	}
	w.say("fault: %s", s)
	switch s.Do {
	case "kill", "hang", "lose-socket":
		for _, db := range s.databases() {
			if err := w.harm(h, s.Do, db); err != nil {
				return err
			}
		}
		w.pass(ctx, h, s)
	case "cut":
		w.begin(h, "cut")
		w.pass(ctx, h, s)
		return h.Cut(true)
	case "mute":
		w.begin(h, "mute")
		w.pass(ctx, h, s)
		return w.mute(ctx, h, s.Arg)
	case "power-off":
		if w.has(h, "mute") {
			w.unmute(ctx, h) // the others' part of it outlives a boot of this one
		}
		w.begin(h, "power-off")
		w.forget(h, "power-off", "full", "was full", "destroy nb", "destroy sb")
		h.power.Lock()
		defer h.power.Unlock()
		w.pass(ctx, h, s)
		return h.PowerOff()
	case "power-on":
		w.counted(oneFault)
		w.inBackground(ctx, s, func(ctx context.Context) error {
			return w.powerOn(ctx, h, time.Duration(s.Seconds*float64(time.Second)))
		})
	case "destroy":
		return w.destroy(h, s)
	case "lose":
		for _, one := range s.With {
			if err := w.fault(ctx, one); err != nil {
				return err
			}
		}
	case "fill":
		return w.fill(h, s)
	case "set-clock":
		w.counted(oneFault)
		return h.SetClock(time.Duration(s.Seconds * float64(time.Second)))
	case "kill-hook":
		return w.signalHook(h, syscall.SIGKILL)
	case "hang-hook":
		w.later(s, func() error { return running(h.SignalHook(syscall.SIGCONT)) })
		return w.signalHook(h, syscall.SIGSTOP)
	case "fail-tool":
		var once sync.Once
		h.OnTool(func(call string) (err error) {
			once.Do(func() {
				w.counted(oneFault)
				w.say("fails: %s", call)
				err = errors.New("connection is shut down")
			})
			return err
		})
	default:
		return fmt.Errorf("no fault is called %q", s.Do)
	}
	return nil
}

func oneFault(c *Counts) { c.Faults++ }

// later ends a fault after its time, unless the schedule has ended before.
func (w *world) later(s Step, end func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, time.AfterFunc(time.Duration(s.Seconds*float64(time.Second)), func() { w.note(s, end()) }))
}

// pass ends a cut, a hang, a kill or a power cut after the step's time, if it has one.
func (w *world) pass(ctx context.Context, h *host, s Step) {
	if s.Seconds == 0 || s.Do == "lose-socket" {
		return
	}
	ctx = context.WithoutCancel(ctx) // it may last longer than the step
	w.later(s, func() error {
		if s.Do == "power-off" {
			w.inBackground(ctx, s, func(ctx context.Context) error { return w.powerOn(ctx, h, 0) })
			return nil
		}
		if h.Removed() || w.has(h, "power-off") {
			return nil
		}
		w.say("passes: %s", s)
		if s.Do == "kill" {
			return w.restartKilled(ctx, h, s)
		}
		if s.Do == "hang" {
			for _, db := range s.databases() {
				if err := w.resume(h, db); err != nil {
					return err
				}
			}
			return nil
		}
		return w.reconnect(ctx, h, s.Do)
	})
}

// reconnect ends a cut of a machine's network, of either kind.
func (w *world) reconnect(ctx context.Context, h *host, fault string) error {
	switch {
	case !w.has(h, fault):
		return nil
	case fault == "mute":
		w.unmute(ctx, h)
	default:
		if err := h.Cut(false); err != nil {
			return err
		}
	}
	w.end(h, fault)
	return nil
}

// restartKilled starts killed servers, as an operator does, except those that were stopped meanwhile.
func (w *world) restartKilled(ctx context.Context, h *host, s Step) (err error) {
	for _, db := range s.databases() {
		if w.has(h, "kill "+string(db)) && !w.has(h, "destroy "+string(db)) && !h.held(db) {
			err = errors.Join(err, w.cure(ctx, h, db))
		}
	}
	return err
}

func (w *world) resume(h *host, db lab.DB) error {
	if !w.has(h, "hang "+string(db)) {
		return nil
	}
	if err := h.Resume(db); err != nil && h.Running(db) {
		return err
	}
	w.end(h, "hang "+string(db))
	return nil
}

// signalHook counts as a fault if a hook was running.
func (w *world) signalHook(h *host, sig syscall.Signal) error {
	err := h.SignalHook(sig)
	if err == nil {
		w.counted(oneFault)
	}
	return running(err)
}

// running ignores that the process had ended.
func running(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func (w *world) harm(h *host, what string, db lab.DB) error {
	if !h.Running(db) || w.has(h, "hang "+string(db)) {
		return nil
	}
	w.begin(h, what+" "+string(db))
	var err error
	switch what {
	case "kill":
		err = h.Kill(db)
	case "hang":
		err = h.Hang(db)
	case "lose-socket":
		if err = os.Remove(h.Ctl(db)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return running(err)
}

// unusedMAC is an address that no machine has, so that packets to it are lost.
const unusedMAC = "02:00:00:00:00:01"

// mute cuts the network of a machine in one direction: "out" drops packets to the other units, "in" packets from
// them.
func (w *world) mute(ctx context.Context, h *host, way string) (err error) {
	for _, other := range w.inModel() {
		if other == h || w.has(other, "power-off") {
			continue
		}
		from, to := h, other
		if way == "in" {
			from, to = other, h
		}
		_, failed := from.Exec(ctx, "ip", "neigh", "replace", to.Address(), "lladdr", unusedMAC, "dev", "eth0", "nud",
			"permanent")
		err = errors.Join(err, failed)
	}
	return err
}

// unmute ends mute, in both directions. After a boot there may be nothing to remove.
func (w *world) unmute(ctx context.Context, h *host) {
	for _, other := range w.inModel() {
		if other != h && !w.has(other, "power-off") {
			_, _ = h.Exec(ctx, "ip", "neigh", "del", other.Address(), "dev", "eth0")
			_, _ = other.Exec(ctx, "ip", "neigh", "del", h.Address(), "dev", "eth0")
		}
	}
}

func filler(h *host) string { return filepath.Join(h.DBDir(), "filler") }

// fill leaves that many KiB of the disk free, for a while or until the fault is healed.
func (w *world) fill(h *host, s Step) error {
	left, err := strconv.ParseInt(s.Arg, 10, 64)
	if err != nil {
		return err
	}
	w.begin(h, "full")
	file, err := os.Create(filler(h))
	if err != nil {
		return err
	}
	defer file.Close()
	size := int64(0)
	for block := make([]byte, 4096); err == nil; {
		var n int
		n, err = file.Write(block)
		size += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	if s.Seconds > 0 {
		w.later(s, func() error { return w.free(h) })
	}
	return file.Truncate(max(0, size-left*1024))
}

// free frees the disk again. What a server couldn't write is lost for it, so this fault remains a cause after it has
// ended.
func (w *world) free(h *host) error {
	w.mu.Lock()
	if since, full := h.faults["full"]; full {
		delete(h.faults, "full")
		h.faults["was full"] = since
	}
	w.mu.Unlock()
	if err := os.Remove(filler(h)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (w *world) forget(h *host, but ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	keep := map[string]int{}
	for _, name := range but {
		if since, found := h.faults[name]; found {
			keep[name] = since
		}
	}
	h.faults = keep
}

func (w *world) heal(ctx context.Context, h *host) error {
	if h.Removed() {
		return nil
	}
	if err := errors.Join(h.SetClock(0), w.free(h)); err != nil {
		return err
	}
	if w.has(h, "power-off") {
		err := h.PowerOn(ctx)
		if err == nil || hookFailed(err) { // else it has not booted
			w.end(h, "power-off")
		}
		for _, db := range lab.Databases {
			w.end(h, "destroy "+string(db))
		}
		return err
	}
	if err := errors.Join(w.reconnect(ctx, h, "mute"), w.reconnect(ctx, h, "cut")); err != nil {
		return err
	}
	for _, db := range lab.Databases {
		if err := w.cure(ctx, h, db); err != nil {
			return err
		}
	}
	return nil
}

// cure undoes the faults of a server, as an operator would.
func (w *world) cure(ctx context.Context, h *host, db lab.DB) error {
	if err := w.resume(h, db); err != nil {
		return err
	}
	verb := ""
	if w.has(h, "kill "+string(db)) && !h.paused() {
		verb = "start"
	}
	if w.has(h, "lose-socket "+string(db)) && h.Running(db) {
		verb = "restart"
	}
	w.end(h, "lose-socket "+string(db))
	w.end(h, "kill "+string(db))
	w.end(h, "destroy "+string(db))
	if verb == "" {
		return nil
	}
	_, _, err := h.Systemctl(ctx, verb, db.Service())
	return err
}
