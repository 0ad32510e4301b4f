package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// patience is how long a command is silent at most in the beginning. Later it says after each
// [pause] that it still works.
const (
	patience = 2 * time.Second
	pause    = 10 * time.Second
)

// reassure returns a function that prints a line of progress to out, and one that ends all printing. If nothing is
// printed for a while, a line on stderr says so; the first one has what the command does.
func reassure(stderr, out io.Writer, what string) (say func(line string), end func()) {
	var mu sync.Mutex
	since := time.Now()
	next := since.Add(patience)
	var timer *time.Timer
	ended := false
	mu.Lock()
	timer = time.AfterFunc(patience, func() {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return
		}
		if now := time.Now(); !now.Before(next) {
			fmt.Fprintf(stderr, "… %s (%.0f s)\n", what, now.Sub(since).Seconds())
			next = now.Add(pause)
		}
		timer.Reset(time.Until(next))
	})
	mu.Unlock()
	say = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, line)
		what, since = "still working", time.Now()
		if next = since.Add(pause); !ended {
			timer.Reset(pause)
		}
	}
	return say, func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		timer.Stop()
	}
}
