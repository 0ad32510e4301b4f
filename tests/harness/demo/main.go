// Command demo tells the charm's story on real OVN databases, on this machine alone, with the lab instead of Juju. It
// prints each command as a user of Juju types it, ends by itself, and leaves nothing behind.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// limit bounds the story, which takes about a minute on an idle machine.
const limit = 20 * time.Minute

func main() {
	lab.Intercept()
	record := flag.String("record", "", "write a recording of it to this file")
	compared := flag.String("compare", "", "fail where this recording tells another story")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: demo [flags] BINARY, the charm's, as `make demo` builds it")
		flag.PrintDefaults()
	}
	if flag.Parse(); flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	var printed bytes.Buffer
	err := play(ctx, flag.Arg(0), io.MultiWriter(os.Stdout, &printed))
	if err == nil {
		err = keep(printed.Bytes(), *record, *compared)
	}
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func keep(printed []byte, record, compared string) error {
	recording, err := cast(printed)
	switch {
	case err != nil || record == "" && compared == "":
		return err
	case record != "":
		return os.WriteFile(record, recording, 0o644)
	}
	before, err := os.ReadFile(compared)
	if err != nil {
		return err
	}
	return compare(before, recording)
}

func play(ctx context.Context, binary string, out io.Writer) (err error) {
	charm, err := os.MkdirTemp("", "charm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(charm)
	if err := lab.LayOut(ctx, charm, ".", binary); err != nil {
		return err
	}
	l, err := lab.New(ctx, lab.Options{Charm: charm})
	if err != nil {
		return err
	}
	defer func() {
		if closed := l.Close(); err == nil {
			err = closed
		}
	}()
	s := &story{Lab: l, ctx: ctx, out: out}
	for _, chapter := range chapters {
		if err := chapter(s); err != nil {
			return err
		}
	}
	return nil
}
