// Command juju-story tells the story of package juju to a real Juju: see its README.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/system/juju"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := tell(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED:", err)
		os.Exit(1)
	}
	fmt.Println("All is well.")
}

func tell(ctx context.Context, args []string) error {
	var config, machines, powerOff, restart string
	c := &juju.Client{}
	s := &cluster.Story{App: c, Runner: cluster.Client, Options: map[string]string{}, Out: os.Stdout}
	f := flag.NewFlagSet("juju-story", flag.ContinueOnError)
	f.StringVar(&c.Program, "juju", "juju", "the client")
	f.StringVar(&c.Model, "model", "", "[CONTROLLER:]MODEL, without the application")
	f.StringVar(&c.Charm, "charm", "", "the charm file")
	f.StringVar(&c.App, "app", "ovn-central", "what the charm is deployed as")
	f.StringVar(&s.CA, "ca", "vault", "the application that issues certificates")
	f.StringVar(&config, "config", "source=distro", "options of the charm: KEY=VALUE,KEY=VALUE")
	f.StringVar(&machines, "machines", "", "seven of the model's machines: 0,1,2,3,4,5,6; empty: the cloud makes them")
	f.StringVar(&powerOff, "power-off", strings.Join(juju.TurnOff, " "), "turns off the machine of {unit}")
	f.StringVar(&restart, "restart-agent", strings.Join(juju.Restart, " "), "restarts the agent of {unit}")
	f.DurationVar(&s.Limit, "limit", 20*time.Minute, "how long a step may take")
	f.DurationVar(&s.Every, "every", time.Second, "how often the status is looked at")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.Model == "" || c.Charm == "" || f.NArg() > 0 {
		return fmt.Errorf("usage: juju-story -model MODEL -charm FILE; see tests/system/juju/README.md")
	}
	if machines != "" {
		c.Machines = strings.Split(machines, ",")
	}
	for option := range strings.SplitSeq(config, ",") {
		key, value, _ := strings.Cut(option, "=")
		s.Options[key] = value
	}
	c.TurnOff, c.Restart = strings.Fields(powerOff), strings.Fields(restart)
	wrong, err := s.Tell(ctx, cluster.Life)
	if len(wrong) > 0 {
		err = errors.Join(err, fmt.Errorf("%d statuses were wrong:\n%s", len(wrong), strings.Join(wrong, "\n")))
	}
	return err
}
