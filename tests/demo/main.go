// Command demo plays the charm's story on real OVN databases, on this machine
// alone, with the lab in Juju's place. It prints each command as a user of Juju
// types it, ends by itself, and leaves nothing behind.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// limit bounds the whole story, which takes about half a minute.
const limit = 5 * time.Minute

func main() {
	lab.Intercept()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo BINARY, the charm's, as `make demo` builds it")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	err := play(ctx, os.Args[1])
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, binary string) (err error) {
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
	s := &story{Lab: l, ctx: ctx, out: os.Stdout}
	for _, chapter := range chapters {
		if err := chapter(s); err != nil {
			return err
		}
	}
	return nil
}
