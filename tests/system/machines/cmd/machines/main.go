// Command machines boots machines to look around on, until it is interrupted:
//
//	go run ./tests/system/machines/cmd/machines -n 3
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

func main() {
	n := flag.Int("n", 1, "how many machines")
	suite := flag.String("suite", "bookworm", "Debian suite: bookworm or sid")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := play(ctx, *suite, *n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(ctx context.Context, suite string, n int) (err error) {
	fleet, err := machines.Open(ctx, machines.Options{Suite: suite, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() {
		if closed := fleet.Close(); err == nil {
			err = closed
		}
	}()
	booted, err := fleet.Boot(ctx, n)
	if err != nil {
		return err
	}
	for _, m := range booted {
		fmt.Printf("%s %v: %s\n", m.Name(), m.Address(), m.Enter())
	}
	<-ctx.Done()
	return nil
}
