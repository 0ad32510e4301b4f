package juju

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// watch looks at `juju status` over and over, and judges.
type watch struct {
	client *Client
	app    string
	every  time.Duration
	out    io.Writer

	mu    sync.Mutex
	scene Scene
	began time.Time         // of the scene
	last  map[string]string // by unit
	wrong []string
}

// run looks until ctx ends.
func (w *watch) run(ctx context.Context) {
	ticker := time.NewTicker(w.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		units, err := w.client.Units(ctx, w.app)
		if err != nil {
			continue // a controller that is busy isn't the charm's
		}
		for name, u := range units {
			w.see(name, u.Workload.Current, u.Workload.Message)
		}
	}
}

// see judges what one unit shows, once for each change.
func (w *watch) see(unit, word, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := word + ": " + message
	if w.last[unit] == now {
		return
	}
	w.last[unit] = now
	fmt.Fprintf(w.out, "    %s %s\n", unit, now)
	w.judge(unit, word, message)
}

// judge notes what is wrong in what a unit has shown. A hook may fail of one that is down: its
// machine was turned off, amid that hook maybe.
func (w *watch) judge(unit, word, message string) {
	if word == "error" && slices.Contains(w.scene.Down, unit) {
		return
	}
	why := Judge(w.scene, word, message)
	if why != "" {
		w.add(fmt.Sprintf("%s showed %q: %s", unit, word+": "+message, why))
	}
}

// wrongly notes what else was wrong.
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

// set begins another scene.
func (w *watch) set(s Scene) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scene, w.began = s, time.Now()
}

// logs judges what the units that are there have shown since the scene began,
// however short it was.
func (w *watch) logs(ctx context.Context) error {
	units, err := w.client.Units(ctx, w.app)
	if err != nil {
		return err
	}
	for name := range units {
		past, err := w.client.Log(ctx, name)
		if err != nil {
			return err
		}
		w.mu.Lock()
		for _, p := range past {
			if p.Since.After(w.began) {
				w.judge(name, p.Status, p.Message)
			}
		}
		w.mu.Unlock()
	}
	return nil
}
