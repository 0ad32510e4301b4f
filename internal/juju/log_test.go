package juju_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func jujuLog(level, line string) runtest.Call {
	return runtest.Expect("juju-log", "-l", level, "--", line)
}

func TestLogHandler_one_line_per_record(t *testing.T) {
	t.Parallel()
	stderr := &bytes.Buffer{}
	log := slog.New(juju.NewLogHandler(tools(t,
		jujuLog("INFO", `kicked member=77eb reason="two words" lines="a\nb"`),
		jujuLog("INFO", "a message of lines"),
		jujuLog("WARNING", "--help with=me"),
		jujuLog("WARNING", "notice+"),
		jujuLog("ERROR", `failed db.name=nb db.err="no answer" db.took_ms=12 level=3 msg=x time=now`),
		jujuLog("ERROR", "fatal"),
	), stderr))
	ctx := t.Context()
	log.Info("kicked", "member", "77eb", "reason", "two words", "lines", "a\nb")
	log.Info("a message\nof\r\n  lines\n")
	log.Warn("--help", "with", "me")
	log.Log(ctx, slog.LevelWarn+1, "notice+")
	log.Error("failed", slog.Group("db", "name", "nb", "err", errors.New("no answer"), "took_ms", 12), slog.Group("none"),
		"level", 3, "msg", "x", "time", "now")
	log.Log(ctx, slog.LevelError+4, "fatal")
	assert.Empty(t, stderr.String())
}

func TestLogHandler_derived_keep_attributes(t *testing.T) {
	t.Parallel()
	log := slog.New(juju.NewLogHandler(tools(t,
		jujuLog("INFO", "one hook=stop sb.member=77eb sb.up=true"),
		jujuLog("INFO", "two hook=stop nb.up=false"),
		jujuLog("INFO", "three up=1"),
	), io.Discard))
	hook := log.With("hook", "stop")
	southbound, northbound := hook.WithGroup("sb").With("member", "77eb"), hook.WithGroup("nb")
	southbound.Info("one", "up", true)
	northbound.Info("two", "up", false)
	log.Info("three", "up", 1)
}

func TestLogHandler_low_levels_start_no_process(t *testing.T) {
	t.Parallel()
	log := slog.New(juju.NewLogHandler(tools(t, jujuLog("INFO", "shown")), io.Discard))
	log.Debug("hidden")
	log.Info("shown")
}

func TestLogHandler_falls_back_to_stderr(t *testing.T) {
	t.Parallel()
	stderr := &bytes.Buffer{}
	log := slog.New(juju.NewLogHandler(tools(t,
		jujuLog("INFO", "sent"),
		jujuLog("WARNING", "lost n=1").Fails(1, "ERROR connection is shut down\n"),
	), stderr))
	log.Info("sent")
	log.Warn("lost", "n", 1)
	log.With("k", "v").Error("later\nstill")
	failure, rest, _ := strings.Cut(stderr.String(), "\n")
	assert.Contains(t, failure, "juju-log: ERROR connection is shut down")
	assert.Equal(t, "WARNING lost n=1\nERROR later still k=v\n", rest)
}

func TestLogHandler_outlives_context(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stderr := &bytes.Buffer{}
	slog.New(juju.NewLogHandler(tools(t, jujuLog("ERROR", "the deadline is over")), stderr)).
		ErrorContext(ctx, "the deadline is over")
	assert.Empty(t, stderr.String(), "the tool was not told to end")
}

func TestLogHandler_concurrent_lines_stay_whole(t *testing.T) {
	t.Parallel()
	runner := &recorder{}
	log := slog.New(juju.NewLogHandler(juju.New(runner), io.Discard))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { log.With("i", i).Info("line", "again", i) })
	}
	all.Wait()
	require.Len(t, runner.calls, 8)
	for _, c := range runner.calls {
		assert.Regexp(t, `^line i=(\d) again=\d$`, c.Args[3])
	}
}
