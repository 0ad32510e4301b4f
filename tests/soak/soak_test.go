package soak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/soak"
)

var (
	seed      = flag.Uint64("seed", 0, "of the first schedule; the next ones have the next ones; 0 draws one")
	soakFor   = flag.Duration("for", 30*time.Second, "how long to begin new schedules")
	shrinkFor = flag.Duration("shrink", 10*time.Minute, "how long to make a schedule that fails shorter")
	goOn      = flag.Bool("go-on", false, "go on with the next schedule after one that broke an invariant")
	stored    = flag.String("schedules", "testdata/*.json", "the files of schedules that are played again")
	keep      = flag.String("log", "", "a directory for what the lab says of each schedule")
)

// grace is for how long a schedule that was begun may go on.
const grace = time.Minute

// Random operations and faults on real servers break none of the invariants.
func TestRandomFaultsBreakNoInvariant(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(rand.Uint32())
	}
	t.Logf("seed %d; again: make soak SEED=%d FOR=%v", first, first, *soakFor)
	var total soak.Result
	schedules := uint64(0)
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), *soakFor+grace)
	defer cancel()
	for ; time.Since(begun) < *soakFor; schedules++ {
		s := soak.Generate(first + schedules)
		r, log := play(ctx, t, s, first+schedules)
		total.Steps += r.Steps
		total.Faults += r.Faults
		total.Typed += r.Typed
		t.Logf("seed %d: %d units, %d steps, %d faults, %d commands typed in %v", first+schedules, s.Units, r.Steps, r.Faults, r.Typed, time.Since(begun).Round(time.Second))
		if ctx.Err() != nil {
			t.Logf("seed %d was not at its end when the time was", first+schedules)
			break
		}
		if r.Broken != "" {
			report(t, first+schedules, s, r, log)
			if !*goOn {
				break
			}
		}
	}
	t.Logf("%d schedules, %d steps, %d faults, %d commands typed", schedules, total.Steps, total.Faults, total.Typed)
}

func play(ctx context.Context, t *testing.T, s soak.Schedule, seed uint64) (soak.Result, string) {
	t.Helper()
	var log bytes.Buffer
	locked := &lockedWriter{to: &log}
	if *keep != "" {
		file, err := os.Create(filepath.Join(*keep, time.Now().Format("150405")+"-"+itoa(seed)+".log"))
		require.NoError(t, err)
		defer file.Close()
		locked.to = io.MultiWriter(&log, file)
	}
	_, err := io.WriteString(locked, s.JSON())
	require.NoError(t, err)
	r, err := soak.Run(ctx, s, charm, locked)
	_, _ = io.WriteString(locked, r.Broken)
	if ctx.Err() == nil {
		require.NoError(t, err, "seed %d\n%s\n%s", seed, s.JSON(), tail(log.String()))
	}
	return r, log.String()
}

// report makes a schedule that broke an invariant short, and prints it as it is kept.
func report(t *testing.T, seed uint64, s soak.Schedule, r soak.Result, log string) {
	t.Helper()
	t.Logf("seed %d broke an invariant in step %d: %s\n%s", seed, r.At, r.Broken, tail(log))
	ctx, cancel := context.WithTimeout(t.Context(), *shrinkFor)
	defer cancel()
	last := r
	short := soak.Shrink(s, func(try soak.Schedule) bool {
		if ctx.Err() != nil {
			return false
		}
		again, _ := play(ctx, t, try, seed)
		if again.Broken == "" || ctx.Err() != nil {
			return false
		}
		last = again
		return true
	})
	short.Found = strings.SplitN(last.Broken, "\n", 2)[0]
	assert.Fail(t, "an invariant is broken", "%s\nkeep this as tests/soak/testdata/NAME.json:\n%s", last.Broken, short.JSON())
}

// What was found once stays mended: every schedule below testdata.
func TestSchedulesThatFoundSomethingBreakNothingAnyMore(t *testing.T) {
	files, err := filepath.Glob(*stored)
	require.NoError(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var s soak.Schedule
			require.NoError(t, json.Unmarshal(text, &s))
			r, log := play(t.Context(), t, s, 0)
			assert.Empty(t, r.Broken, "%s\nin step %d\n%s", s.Found, r.At, tail(log))
		})
	}
}
