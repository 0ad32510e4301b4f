package observe_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// newCacheObserver is an observer with only a directory and a log.
func newCacheObserver(dir string) (*observe.Observer, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return &observe.Observer{Machine: &observe.Machine{
		Control: ovsctl.Control{Paths: ovndb.Paths{DB: dir}},
		Log:     slog.New(slog.NewTextHandler(log, nil)),
	}}, log
}

const memoryName = "ovn-central-operator.json"

func memory() observe.Cache {
	return observe.Cache{
		History: relation.History{
			ovndb.NB: {
				observetest.Full("aa04"): {Unit: "ovn-central/4", Removed: observetest.Now},
				observetest.Full("0017"): {Unit: "ovn-central/5"},
			},
		},
		Published: relation.UnitIdentities{
			"ovn-central/1": {ovndb.SB: {Server: observetest.Full("13e4"), Cluster: "c1a57c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"}},
		},
		Configurations: map[ovndb.Database]relation.Configuration{
			ovndb.NB: {Server: observetest.Full("aa00"), Members: []string{"0017", "aa00"}},
		},
	}
}

func TestCache_round_trip(t *testing.T) {
	s, log := newCacheObserver(filepath.Join(t.TempDir(), "not", "there", "yet"))
	require.NoError(t, s.SaveCache(memory()))
	assert.Equal(t, memory(), s.LoadCache(t.Context()))
	assert.Empty(t, log.String())
}

func TestCache_unchanged_is_not_written(t *testing.T) {
	dir := t.TempDir()
	s, _ := newCacheObserver(dir)
	require.NoError(t, s.SaveCache(memory()))
	before, err := os.Stat(filepath.Join(dir, memoryName))
	require.NoError(t, err)
	require.NoError(t, s.SaveCache(memory()))
	after, err := os.Stat(filepath.Join(dir, memoryName))
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "the same file")
}

func TestCache_missing_is_empty(t *testing.T) {
	s, log := newCacheObserver(t.TempDir())
	m := s.LoadCache(t.Context())
	assert.Empty(t, m.History)
	assert.Empty(t, m.Published)
	assert.Empty(t, log.String(), "it is nothing to speak of")
}

func TestCache_damaged_is_logged_and_dropped(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"cut off":       `{"history": {"OVN_Northbound": {"aa04`,
		"another type":  `{"history": {"OVN_Northbound": []}, "sightings": {"OVN_Northbound": {"server": "aa"}}}`,
		"another thing": "\x00\x01\x02",
		"a list":        "[1, 2]",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, log := newCacheObserver(dir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, memoryName), []byte(text), 0o600))
			m := s.LoadCache(t.Context())
			assert.Empty(t, m.History, "nothing of it is believed")
			assert.Empty(t, m.Configurations)
			assert.Contains(t, log.String(), "cannot read this unit's cache")
			assert.Contains(t, log.String(), memoryName)

			require.NoError(t, s.SaveCache(memory()), "and it is made anew")
			assert.Equal(t, memory(), s.LoadCache(t.Context()))
		})
	}
}

func TestCache_empty_can_be_updated(t *testing.T) {
	for _, text := range []string{
		"null", "{}", `{"sightings":null,"history":{"OVN_Northbound":null},"published":{"ovn-central/1":null}}`,
	} {
		dir := t.TempDir()
		s, log := newCacheObserver(dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, memoryName), []byte(text), 0o600))
		m := s.LoadCache(t.Context())
		assert.Empty(t, log.String(), text)
		model := observe.Application{History: m.History.Merge(memory().History)}
		alone, err := os.ReadFile(filepath.Join("..", "raft", "testdata", "cluster-status", "nb-single-server.txt"))
		require.NoError(t, err)
		status, err := raft.Parse(string(alone))
		require.NoError(t, err)
		local := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: status}
		s.Now = func() time.Time { return observetest.Now }
		next := s.UpdateCache(m, &model, map[ovndb.Database]observe.ServerState{ovndb.NB: local})
		assert.Equal(t, []string{status.Server.Short()}, next.Configurations[ovndb.NB].Members, text)
	}
}

// A full disk, as the database server may meet it.
func TestCache_full_disk_keeps_old_file(t *testing.T) {
	dir := t.TempDir()
	root := os.Geteuid() == 0
	if root {
		mountTiny(t, dir)
	}
	s, _ := newCacheObserver(dir)
	require.NoError(t, s.SaveCache(memory()))
	if root {
		fill(t, dir)
	} else { // without the right to mount, the nearest case
		require.NoError(t, os.Chmod(dir, 0o555))
		t.Cleanup(func() { require.NoError(t, os.Chmod(dir, 0o755)) })
	}

	larger := memory()
	for i := range 200 {
		id := relation.Identity{Server: observetest.Full(fmt.Sprintf("%04x", i))}
		larger.History = larger.History.Publish(relation.UnitIdentities{fmt.Sprintf("ovn-central/%d", i): {ovndb.SB: id}})
	}
	require.ErrorContains(t, s.SaveCache(larger), "cannot write this unit's cache")
	assert.Equal(t, memory(), s.LoadCache(t.Context()))
	files, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	assert.Empty(t, files, "nothing is left of the attempt")
}

// mountTiny mounts 16 KiB of memory for this test's thread only, so that it always ends with the test.
func mountTiny(t *testing.T, dir string) {
	t.Helper()
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	require.NoError(t, syscall.Unshare(syscall.CLONE_NEWNS))
	require.NoError(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// fill writes until the disk is full.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "other"))
	require.NoError(t, err)
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 1024))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
}

// A forced removal leaves the unit's cache on the machine.
func TestCache_of_other_unit_is_ignored(t *testing.T) {
	dir := t.TempDir()
	former, _ := newCacheObserver(dir)
	former.Env.Unit = "ovn-central/1"
	require.NoError(t, former.SaveCache(memory()))
	assert.NotEmpty(t, former.LoadCache(t.Context()).History)

	next, log := newCacheObserver(dir)
	next.Env.Unit = "ovn-central/5"
	of := map[ovndb.Database]observe.FormerServer{ovndb.SB: {Unit: "ovn-central/1", Server: observetest.Full("13e4")}}
	assert.Equal(t, observe.Cache{Former: of}, next.LoadCache(t.Context()))
	assert.Contains(t, log.String(), "ignoring the cache of another unit that was on this machine before")
}

// The machine may get a unit of the same name from another model. If either model is unknown, as for the agent and an
// old cache, the name decides.
func TestCache_of_other_model_is_ignored(t *testing.T) {
	dir := t.TempDir()
	unit := func(model string) *observe.Observer {
		s, _ := newCacheObserver(dir)
		s.Env.Unit, s.Env.ModelUUID = "ovn-central/1", model
		return s
	}
	require.NoError(t, unit("").SaveCache(memory()))
	assert.NotEmpty(t, unit("former").LoadCache(t.Context()).Published)
	require.NoError(t, unit("former").SaveCache(memory()))
	assert.NotEmpty(t, unit("former").LoadCache(t.Context()).Published)
	assert.NotEmpty(t, unit("").LoadCache(t.Context()).Published)
	next := unit("next").LoadCache(t.Context())
	assert.Empty(t, next.Published)
	assert.Empty(t, next.History)
	assert.NotEmpty(t, next.Former)
}
