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

// maxLogLine limits a line of the log, in bytes; longer ones are cut. It is our own choice: the default limit of
// rsyslog, to which Juju's logs are often forwarded.
const maxLogLine = 8 << 10

// levelWord returns Juju's name of the highest level that a level reaches.
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
// Logging never fails the caller, and outlives its context. When juju-log fails for the first time, a line on stderr
// reports it, and that record and all later ones go to stderr; Juju adds a hook's stderr to the unit's log.
//
// Credentials in URLs and private keys are hidden ([run.Redact]). Don't log them nevertheless.
func NewLogHandler(tools *Tools, stderr io.Writer) slog.Handler {
	out := &logOutput{tools: tools, stderr: stderr}
	return logHandler{out: out, attrs: slog.NewTextHandler(&out.attrs, nil)}
}

// logHandler uses a [slog.TextHandler] for attributes and groups; it passes records that have nothing but attributes.
type logHandler struct {
	out   *logOutput
	attrs slog.Handler
}

// noRecord is the TextHandler's output for such a record's other fields.
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

// logOutput is shared by a handler and all that derive from it.
type logOutput struct {
	mu     sync.Mutex
	attrs  bytes.Buffer
	tools  *Tools
	stderr io.Writer
	failed bool
}

// write outlives ctx: the record about a deadline is the important one.
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
