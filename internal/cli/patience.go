package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// patience is the longest silence at a command's start. After that it reports after each [pause] that it still works.
const (
	patience = 2 * time.Second
	pause    = 10 * time.Second
)

// reassure returns say, which prints a line of progress to out, and end, which ends all printing. If nothing is printed
// for a while, it prints a line to stderr; the first line says what the command does.
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
