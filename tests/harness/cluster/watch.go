package cluster

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// watch reads the status repeatedly and judges it.
type watch struct {
	app   Application
	every time.Duration
	out   io.Writer

	mu     sync.Mutex
	phases []since           // the last one is the current phase
	last   map[string]string // by unit
	wrong  []string
}

// since is a phase and its beginning. It ends when the next one begins.
type since struct {
	Phase
	began time.Time
}

func (w *watch) run(ctx context.Context) {
	ticker := time.NewTicker(w.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		units, err := w.app.Units(ctx)
		if err != nil {
			continue // the charm is not to blame for a busy controller
		}
		for name, u := range units {
			w.see(name, u.Workload.Current, u.Workload.Message)
		}
	}
}

// see judges the status of a unit, once for each change.
func (w *watch) see(unit, word, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := word + ": " + message
	if w.last[unit] == now {
		return
	}
	w.last[unit] = now
	fmt.Fprintf(w.out, "    %s %s\n", unit, now)
	w.judge(unit, Past{Status: word, Message: message}, w.phases[len(w.phases)-1:])
}

// starting is a part of a unit's status while its server has no control socket yet, or the socket was deleted.
const starting = "it is still starting"

// judge records the faults of a unit's status that are faults in all of the given phases. On a unit that is down, a
// hook may fail because its machine was turned off. Its servers start when the machine is on again.
func (w *watch) judge(unit string, shown Past, phases []since) {
	why := ""
	for _, s := range phases {
		if slices.Contains(s.Down, unit) && (shown.Status == "error" || strings.Contains(shown.Message, starting)) {
			return
		}
		if why = Judge(s.Phase, shown.Status, shown.Message); why == "" {
			return
		}
	}
	if why != "" {
		w.add(fmt.Sprintf("%s showed %q: %s", unit, shown.Status+": "+shown.Message, why))
	}
}

func (w *watch) wrongly(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(text)
}

func (w *watch) add(text string) {
	if !slices.Contains(w.wrong, text) {
		w.wrong = append(w.wrong, text)
	}
}

func (w *watch) down() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phases[len(w.phases)-1].Down
}

func (w *watch) set(s Phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phases = append(w.phases, since{s, time.Now()})
}

// logs judges all statuses since the scenario began, however brief, each by the phase of its time: a line may appear
// in the log after its phase has ended. Juju may have dropped the log of a removed unit.
func (w *watch) logs(ctx context.Context) error {
	there, err := w.app.Units(ctx)
	if err != nil {
		return err
	}
	units := w.shown()
	for unit := range there {
		units[unit] = true
	}
	for unit := range units {
		past, err := w.app.Log(ctx, unit)
		if _, is := there[unit]; err != nil && is {
			return err
		}
		w.mu.Lock()
		for _, p := range past {
			w.judge(unit, p, w.at(p.Since))
		}
		w.mu.Unlock()
	}
	return nil
}

func (w *watch) shown() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	units := map[string]bool{}
	for unit := range w.last {
		units[unit] = true
	}
	return units
}

// at returns the phases of a time in the log: two if a phase ended within that whole second.
func (w *watch) at(t time.Time) (phases []since) {
	until := t
	if t.Nanosecond() == 0 {
		until = t.Add(time.Second)
	}
	for i, s := range w.phases {
		over := i+1 < len(w.phases) && !w.phases[i+1].began.After(t)
		if !over && !s.began.After(until) {
			phases = append(phases, s)
		}
	}
	return phases
}
