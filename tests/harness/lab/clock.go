package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// clockFile and boottimeFile contain by how many ns a machine's clock, and its agent's, are fast. They are in
// SysconfDir.
const (
	clockFile    = "clock-is-fast-by"
	boottimeFile = "boottime-is-fast-by"
)

// playedClock is the clock of [LayOutWithClock]. Differences between times within one process stay right.
const playedClock = `package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent"
)

func fastBy(file string) time.Duration {
	text, _ := os.ReadFile(filepath.Join(os.Getenv("OVN_SYSCONFDIR"), file))
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(n)
}

var fast = sync.OnceValue(func() time.Duration { return fastBy("` + clockFile + `") })

func playedNow() time.Time { return time.Now().Add(fast()) }

func playedBoottime() time.Duration { return agent.Boottime() + fastBy("` + boottimeFile + `") }
`

// LayOutWithClock does [LayOut] for a charm whose clock [Unit.SetClock] can set: it has the same sources with another
// clock. CLOCK_REALTIME is the host's (time_namespaces(7)); servers, clients and OpenSSL use that.
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

// playedCalls lists the sources that read a clock, with the call and its replacement.
var playedCalls = map[string][2]string{
	"unit.go":  {"time.Now", "playedNow"},
	"agent.go": {"agent.Boottime", "playedBoottime"},
}

func clockOverlay(dir, root string) (path string, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return "", err
	}
	sources := filepath.Join(root, "internal", "cli")
	written := map[string]string{"playedclock.go": playedClock}
	for name, call := range playedCalls {
		source := filepath.Join(sources, name)
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		given := call[0] + "," // as an argument, or a field, and nothing else
		if n := strings.Count(string(text), given); n == 0 || n != strings.Count(string(text), call[0]) {
			return "", fmt.Errorf("%s does not give the clock as it did", source)
		}
		written[name] = strings.ReplaceAll(string(text), given, call[1]+",") + "\nvar _ = " + call[0] + "\n"
	}
	files := map[string]string{}
	for name, text := range written {
		files[filepath.Join(sources, name)] = filepath.Join(dir, name)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	replace, wrong := json.Marshal(map[string]any{"Replace": files})
	path = filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, wrong, os.WriteFile(path, replace, 0o600))
}

// SetClock makes the machine's clock fast by d for later hooks and actions, with a charm of [LayOutWithClock].
func (u *Unit) SetClock(fast time.Duration) error { return u.setFast(clockFile, fast) }

// SetBoottime makes the clock of the unit's agent fast by d from now on, with a charm of [LayOutWithClock].
func (u *Unit) SetBoottime(fast time.Duration) error { return u.setFast(boottimeFile, fast) }

func (u *Unit) setFast(file string, by time.Duration) error {
	_, err := atomicfile.WriteIfChanged(filepath.Join(u.SysconfDir(), file), []byte(fmt.Sprint(int64(by))), 0o644)
	return err
}
