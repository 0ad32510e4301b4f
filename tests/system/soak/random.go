// Package soak runs random schedules of operations and faults on real servers, in the lab, and checks invariants after
// every step and at the end.
//
// A [Schedule] is data: it is made from a seed, can be stored, and can be run again. [Shrink] removes steps from a
// schedule that breaks an invariant as long as it still breaks one, and the rest is printed as JSON. The schedules below
// testdata are tests.
//
// Two parts are pure: the drawing of schedules (generate.go, disaster.go), and the decision which faults explain a loss
// of quorum ([Cost.Judge]). The rest operates the lab and checks its state.
package soak

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

var (
	seed      = flag.Uint64("seed", 0, "of the first schedule; the next ones have the next ones; 0 draws one")
	soakFor   = flag.Duration("for", 30*time.Second, "how long to begin new schedules")
	count     = flag.Uint64("count", 0, "how many schedules are played, however long it takes; 0: as many as -for permits")
	labs      = flag.Int("labs", 1, "how many schedules are played at the same time, each in a lab of its own")
	slow      = flag.Int("slow", 1, "how many times as long as usual everything may take, for a busy machine")
	shrinkFor = flag.Duration("shrink", 10*time.Minute, "how long to shorten a schedule that fails")
	keep      = flag.String("log", "", "a directory for the lab's log of each schedule")
)

// grace is how much longer than -for a schedule may run on an idle machine.
const grace = 2 * time.Minute

type played struct {
	Result
	seed     uint64
	schedule Schedule
	log      string
	err      error
	took     time.Duration
}

// Random plays random schedules of operations and faults, and requires the invariants. Flags set their number.
func Random(t *testing.T) { random(t, Generate, "random") }

// Disasters plays lost quorums that are recovered or restored. It plays one unless a flag says more.
func Disasters(t *testing.T) {
	*count = max(1, *count)
	random(t, GenerateDisaster, "disasters")
}

// random runs the schedules that draw makes from seeds. dir is the directory of the test.
func random(t *testing.T, draw func(seed uint64) Schedule, dir string) {
	t.Helper()
	first := *seed
	if first == 0 {
		first = uint64(rand.Uint32())
	}
	t.Logf("seed %d; again: go test -v -count=1 -timeout 24h ./tests/system/soak/%s -args -seed=%d -count=%d -for=%v",
		first, dir, first, *count, *soakFor)
	ctx, cancel := context.WithCancel(t.Context())
	if *count == 0 {
		ctx, cancel = context.WithTimeout(t.Context(), *soakFor+patience(grace))
	}
	defer cancel()
	beginning, enough := context.WithCancel(ctx)
	defer enough()
	var total Counts
	ended := 0
	for p := range playAll(ctx, beginning, draw, first) {
		total.add(p.Counts)
		t.Logf("seed %d: %d units, %+v in %v", p.seed, p.schedule.Units, p.Counts, p.took.Round(time.Second))
		switch {
		case ctx.Err() != nil && p.Broken == "":
			t.Logf("seed %d was not played to its end: %v", p.seed, p.err)
			continue
		case p.err != nil:
			require.NoError(t, p.err, "seed %d\n%s\n%s", p.seed, p.schedule.JSON(), tail(p.log))
		case p.Broken != "":
			enough()
			report(t, p)
		}
		ended++
	}
	t.Logf("%d schedules: %+v", ended, total)
	assert.Positive(t, ended, "no schedule ended, so none was judged: give a longer -for, or -slow")
}

// playAll plays the schedules of seeds, beginning with first, -labs at the same time, each in a lab with its own
// networks. It begins new ones until -for is over or beginning ends.
func playAll(ctx, beginning context.Context, draw func(uint64) Schedule, first uint64) <-chan played {
	results := make(chan played, 4096) // no reader waits until a schedule that failed is short
	var next atomic.Uint64
	var group sync.WaitGroup
	begun := time.Now()
	for range *labs {
		group.Go(func() {
			for beginning.Err() == nil {
				nth := next.Add(1) - 1
				if *count == 0 && time.Since(begun) >= *soakFor || *count > 0 && nth >= *count {
					return
				}
				results <- play(ctx, draw(first+nth), first+nth)
			}
		})
	}
	go func() { group.Wait(); close(results) }()
	return results
}

func play(ctx context.Context, s Schedule, seed uint64) played {
	p := played{seed: seed, schedule: s}
	begun := time.Now()
	var log bytes.Buffer
	locked := &lockedWriter{to: &log}
	if *keep != "" {
		file, err := os.CreateTemp(*keep, fmt.Sprintf("%s-%d-*.log", time.Now().Format("150405"), seed))
		if err != nil {
			p.err = err
			return p
		}
		defer file.Close()
		locked.to = io.MultiWriter(&log, file)
	}
	_, _ = io.WriteString(locked, s.JSON())
	p.Result, p.err = Run(ctx, s, charm, locked)
	_, _ = io.WriteString(locked, p.Broken)
	p.log, p.took = log.String(), time.Since(begun)
	return p
}

// report shrinks a schedule that broke an invariant, and prints it.
func report(t *testing.T, p played) {
	t.Helper()
	t.Logf("seed %d broke an invariant in step %d: %s\n%s", p.seed, p.At, p.Broken, tail(p.log))
	ctx, cancel := context.WithTimeout(t.Context(), *shrinkFor)
	defer cancel()
	last := p.Broken
	short := Shrink(p.schedule, func(try Schedule) bool {
		if ctx.Err() != nil {
			return false
		}
		again := play(ctx, try, p.seed)
		if again.err != nil || again.Broken == "" || ctx.Err() != nil {
			return false
		}
		last = again.Broken
		return true
	})
	short.Found = strings.SplitN(last, "\n", 2)[0]
	assert.Fail(t, "an invariant is broken", "%s\nkeep this as tests/system/soak/testdata/NAME.json:\n%s", last,
		short.JSON())
}

var charm Charm

// Main is the TestMain of a package that plays schedules.
func Main(m interface{ Run() int }) {
	lab.Main(m, func(ctx context.Context, dir, root string) error {
		charm = Charm{Dir: filepath.Join(dir, "charm"), Program: filepath.Join(dir, "ovn-lab")}
		return errors.Join(os.Mkdir(charm.Dir, 0o755), lab.LayOutWithClock(ctx, charm.Dir, root), lab.BuildTools(ctx, root, charm.Program))
	})
}

type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func tail(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-120):], "\n")
}
