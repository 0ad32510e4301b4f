package cli

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// lockedBuffer is read while it is written to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestReassure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // each Sleep moves the bubble's clock and takes no time
		var stderr, out lockedBuffer
		say, end := reassure(&stderr, &out, "asking")
		time.Sleep(patience - time.Millisecond)
		assert.Empty(t, stderr.String(), "fast commands print nothing")
		time.Sleep(2 * time.Millisecond)
		assert.Equal(t, "… asking (2 s)\n", stderr.String())
		time.Sleep(pause)
		assert.Equal(t, "… asking (2 s)\n… asking (12 s)\n", stderr.String())
		say("1 of 2")
		assert.Equal(t, "1 of 2\n", out.String())
		time.Sleep(pause + time.Millisecond)
		assert.Equal(t, "… asking (2 s)\n… asking (12 s)\n… still working (10 s)\n", stderr.String())
		end()
		time.Sleep(time.Minute)
		assert.Equal(t, "1 of 2\n", out.String())
		assert.Len(t, stderr.String(), len("… asking (2 s)\n… asking (12 s)\n… still working (10 s)\n"))
	})
}
