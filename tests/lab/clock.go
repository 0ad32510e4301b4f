package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// clockFile has by how many nanoseconds a machine's clock is fast, in its SysconfDir.
const clockFile = "clock-is-fast-by"

// playedClock is what the charm of [LayOutWithClock] takes for the time. As where a
// clock is set, what a process measures by two looks at it stays right.
const playedClock = `package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

var fast = sync.OnceValue(func() time.Duration {
	text, _ := os.ReadFile(filepath.Join(os.Getenv("OVN_SYSCONFDIR"), "` + clockFile + `"))
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(n)
})

func playedNow() time.Time { return time.Now().Add(fast()) }
`

// LayOutWithClock is [LayOut] of a charm whose clock can be set, by [Identities.SetClock]:
// its program is built from the same sources but for one thing, what it is given as
// the clock. CLOCK_REALTIME itself is one for all machines of a host
// (time_namespaces(7)): database servers, clients and OpenSSL see that one.
func LayOutWithClock(ctx context.Context, dir, root string) (err error) {
	temporary, err := os.MkdirTemp("", "clock-")
	if err != nil {
		return fmt.Errorf("cannot lay out the charm: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	overlay, err := clockOverlay(temporary, root)
	if err != nil {
		return fmt.Errorf("cannot lay out the charm: %w", err)
	}
	binary := filepath.Join(temporary, "dispatch")
	if err := build(ctx, root, "./cmd/ovn-central-operator", binary, "-overlay="+overlay); err != nil {
		return fmt.Errorf("cannot lay out the charm: %w", err)
	}
	return LayOut(ctx, dir, root, binary)
}

// clockOverlay writes what stands in for the sources (go help build, -overlay).
func clockOverlay(dir, root string) (path string, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return "", err
	}
	source := filepath.Join(root, "internal", "cli", "cli.go")
	text, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	given := []byte("time.Now,") // to each service as its clock, and nothing else
	if n := bytes.Count(text, given); n == 0 || n != bytes.Count(text, []byte("time.Now")) {
		return "", fmt.Errorf("%s does not give the clock as it did", source)
	}
	played := append(bytes.ReplaceAll(text, given, []byte("playedNow,")), "\nvar _ = time.Now\n"...)
	files := map[string]string{
		source: filepath.Join(dir, "cli.go"),
		filepath.Join(root, "internal", "cli", "playedclock.go"): filepath.Join(dir, "playedclock.go"),
	}
	replace, err := json.Marshal(map[string]any{"Replace": files})
	path = filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, replace, 0o600),
		os.WriteFile(filepath.Join(dir, "cli.go"), played, 0o600),
		os.WriteFile(filepath.Join(dir, "playedclock.go"), []byte(playedClock), 0o600))
}

// SetClock has the clock of the unit's machine be fast by so much, or slow, from the
// next hook or action on; it needs a charm of [LayOutWithClock].
func (u *Unit) SetClock(fast time.Duration) error {
	_, err := atomicfile.WriteIfChanged(filepath.Join(u.SysconfDir(), clockFile), []byte(fmt.Sprint(int64(fast))), 0o644)
	return err
}
