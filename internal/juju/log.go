package juju

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// maxLogLine limits a line of the log, in bytes; longer lines are cut. The limit is our own choice: it is the default
// of rsyslog, to which Juju's logs are often forwarded.
const maxLogLine = 8 << 10

// levelWord returns Juju's name for a level: that of the highest of Juju's levels that it reaches.
func levelWord(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "ERROR"
	case level >= slog.LevelWarn:
		return "WARNING"
	}
	return "INFO"
}

// NewLogHandler returns a handler that sends each record to Juju's log as one line, `message key=value
// group.key=value`; Juju adds the time. Each record starts a process, so levels below [slog.LevelInfo] are dropped.
//
// Logging never fails the caller, and works after its context has ended. When juju-log fails for the first time, a line
// on stderr reports it. That record and all later ones go to stderr, which Juju adds to the unit's log if it is a
// hook's.
//
// It hides credentials in URLs and private keys ([run.Redact]). Don't log them nevertheless.
func NewLogHandler(tools *Tools, stderr io.Writer) slog.Handler {
	out := &logOutput{tools: tools, stderr: stderr}
	return logHandler{out: out, attrs: slog.NewTextHandler(&out.attrs, nil)}
}

// logHandler formats attributes and groups with a [slog.TextHandler], to which it passes records that have only
// attributes.
type logHandler struct {
	out   *logOutput
	attrs slog.Handler
}

// noRecord is the TextHandler's output for the other fields of such a record.
const noRecord = `level=INFO msg=""`

func (logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	attrs := slog.NewRecord(time.Time{}, slog.LevelInfo, "", 0)
	r.Attrs(func(a slog.Attr) bool {
		attrs.AddAttrs(a)
		return true
	})
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	h.out.attrs.Reset()
	if err := h.attrs.Handle(ctx, attrs); err != nil {
		return err
	}
	rest := strings.TrimPrefix(strings.TrimSuffix(h.out.attrs.String(), "\n"), noRecord)
	h.out.write(ctx, r.Level, clip(run.Redact(oneLine(r.Message)+rest), maxLogLine))
	return nil
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = h.attrs.WithAttrs(attrs)
	return h
}

func (h logHandler) WithGroup(name string) slog.Handler {
	h.attrs = h.attrs.WithGroup(name)
	return h
}

// logOutput is shared by a handler and all handlers that derive from it.
type logOutput struct {
	mu     sync.Mutex
	attrs  bytes.Buffer
	tools  *Tools
	stderr io.Writer
	failed bool
}

// write does not end with ctx: the record about an exceeded deadline is the important one.
func (o *logOutput) write(ctx context.Context, level slog.Level, line string) {
	if !o.failed {
		err := o.tools.tell(context.WithoutCancel(ctx), "juju-log", "-l", levelWord(level), "--", argument(line))
		if err == nil {
			return
		}
		o.failed = true
		fmt.Fprintf(o.stderr, "cannot write to Juju's log: %v; it continues here\n", err)
	}
	fmt.Fprintf(o.stderr, "%s %s\n", levelWord(level), line)
}
