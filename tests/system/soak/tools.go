package soak

import (
	"io"
	"strconv"
	"strings"
	"sync"
)

// lockedWriter is written to by many hooks at once.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// tail is the end of a log.
func tail(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-120):], "\n")
}
