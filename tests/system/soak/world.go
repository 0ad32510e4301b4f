package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Charm has the programs for a schedule: the charm as Juju unpacks it, and the program that plays the lab's tools.
type Charm struct{ Dir, Program string }

// patience scales the longest time d of an idle machine.
func patience(d time.Duration) time.Duration { return d * time.Duration(*slow) }

// electionTimer is the option that scales all waits of the charm.
const electionTimer = "ovsdb-server-election-timer"

// timer scales an election timer: with a short timer, a server that gets the processor too late counts as dead.
func timer(seconds string) string {
	n, err := strconv.Atoi(seconds)
	if err != nil {
		return seconds
	}
	return strconv.Itoa(min(n**slow, 60))
}

// diskSize is the size of the disk of a unit's databases. Each database takes some MiB, archived clusters take as
// much again, and a recovery leaves 16 MiB free.
const diskSize = "96m"

// world is the application of a schedule, with the runner's state.
type world struct {
	*lab.Lab
	charm  Charm
	log    io.Writer
	writer *lab.Writer
	begun  time.Time

	mu    sync.Mutex
	hosts map[int]*host
	// last is each database's last known configuration, and lastOf the cluster to which it belongs.
	last   map[lab.DB][]raft.Member
	lastOf map[lab.DB]raft.ID
	step   int
	counts Counts
	claims []claim
	// served reports which databases had a quorum after the last step.
	served map[lab.DB]bool
	// ends are the faults that end by themselves.
	ends []*time.Timer
	// replaced are the units whose printed replacement was typed.
	replaced map[string]bool
	disasters
}

// host is a unit, its machine, and the current faults on it.
type host struct {
	*lab.Unit
	number int
	// faults are the current ones, with the step that began them: "cut", or of a server "hang nb".
	faults map[string]int
	// forced reports whether the unit was removed by force, so that its members remain.
	forced bool
	// ids are those that its servers have had, by database; the last is the newest.
	ids map[lab.DB][]string
	// cannotVote are the databases in whose elections its servers, when last asked, took no part: they have given up the
	// database, or have an entry that they could not store.
	cannotVote map[lab.DB]bool
	// power is held while its machine is turned on or off.
	power sync.Mutex
}

func newWorld(ctx context.Context, s Schedule, charm Charm, log io.Writer) (_ *world, err error) {
	l, err := lab.New(ctx, lab.Options{
		Charm: charm.Dir, Program: charm.Program, Log: log, JujuVersion: s.Juju, Restart: s.Restart, HookTimeout: patience(4 * time.Minute),
	})
	if err != nil {
		return nil, err
	}
	w := &world{
		Lab: l, charm: charm, log: log, begun: time.Now(), hosts: map[int]*host{}, served: map[lab.DB]bool{},
		last: map[lab.DB][]raft.Member{}, lastOf: map[lab.DB]raft.ID{}, replaced: map[string]bool{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := w.Configure(ctx, map[string]string{"source": "distro", electionTimer: timer("1")}); err != nil {
		return nil, err
	}
	if _, err := w.RelateCA(ctx); err != nil {
		return nil, err
	}
	for n := range s.Units {
		if err := w.add(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := w.Settle(ctx); err != nil {
		return nil, err
	}
	if s.Disasters() > 0 {
		w.watch(ctx)
	}
	w.writer = w.StartWriter(ctx, time.Second)
	return w, nil
}

func (w *world) close() error {
	w.mu.Lock()
	for _, end := range w.ends {
		end.Stop()
	}
	w.mu.Unlock()
	w.unwatch()
	if w.writer != nil {
		w.writer.Stop()
	}
	var errs []error
	for _, h := range w.all() {
		errs = append(errs, syscall.Unmount(h.DBDir(), syscall.MNT_DETACH))
	}
	return errors.Join(append(errs, w.Close())...)
}

func (w *world) say(format string, args ...any) {
	fmt.Fprintf(w.log, "soak %6.1f s: "+format+"\n", append([]any{time.Since(w.begun).Seconds()}, args...)...)
}

// add makes a unit's machine; its hooks are still to run.
func (w *world) add(ctx context.Context, n int) error {
	u, err := w.AddUnitWith(ctx, lab.AddOptions{Fresh: true, NoHooks: true})
	if err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", u.DBDir(), "tmpfs", 0, "size="+diskSize); err != nil {
		return fmt.Errorf("cannot make the disk of %s: %w", u.Name(), err)
	}
	h := &host{Unit: u, number: n, faults: map[string]int{}, ids: map[lab.DB][]string{}, cannotVote: map[lab.DB]bool{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts[n] = h
	return nil
}

// there returns the unit with a number, or nil if it is not in the model.
func (w *world) there(n int) *host {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.hosts[n]; h != nil && !h.Removed() {
		return h
	}
	return nil
}

// all returns the present and former units, by number.
func (w *world) all() (all []*host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(w.hosts)) {
		all = append(all, w.hosts[n])
	}
	return all
}

func (w *world) inModel() []*host {
	return slices.DeleteFunc(w.all(), func(h *host) bool { return h.Removed() })
}

// named returns the present or former unit with a name.
func (w *world) named(name string) *host {
	for _, h := range w.all() {
		if h.Name() == name {
			return h
		}
	}
	return nil
}

func (w *world) begin(h *host, fault string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.faults[fault] = w.step
	w.counts.Faults++
}

// counted calls change with the counts, under the lock.
func (w *world) counted(change func(c *Counts)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.counts)
}

func (w *world) tally() (c Counts) {
	w.counted(func(now *Counts) { c = *now })
	return c
}

func (w *world) end(h *host, fault string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(h.faults, fault)
}

// has reports whether a machine, or a database's server, has a fault.
func (w *world) has(h *host, fault string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, found := h.faults[fault]
	return found
}

// record is a unit's own record: whether it is paused, and for which unit's recovery its servers were stopped.
type record struct {
	Unit struct {
		Paused bool `json:"paused"`
	} `json:"unit"`
	Recovery struct {
		Held map[string]string `json:"held-for"`
	} `json:"recovery"`
}

func (h *host) record() (r record) {
	text, err := os.ReadFile(filepath.Join(h.DBDir(), "ovn-central-operator.unit.json"))
	if err != nil || json.Unmarshal(text, &r) != nil {
		return record{}
	}
	return r
}

// paused reports whether the unit has recorded that it must stay down, even if the action that stopped it failed or was
// killed.
func (h *host) paused() bool { return h.record().Unit.Paused }

// held reports whether its server was stopped for a recovery.
func (h *host) held(db lab.DB) bool { return h.record().Recovery.Held[db.Schema()] != "" }
