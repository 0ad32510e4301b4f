package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ovn-central/ovn-central-operator/internal/agent"
	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// agentFlags are the flags of the agent's configuration. They override the file.
type agentFlags struct {
	config config.Config
	file   string
}

func newAgentFlags() *agentFlags {
	return &agentFlags{config: config.Config{
		Mode: config.Advise, TTL: lease.DefaultTTL, HoldDown: drift.DefaultHoldDown,
		Listen: fmt.Sprintf("127.0.0.1:%d", ovndb.DefaultAgentPort),
	}}
}

// newAgent makes the command that systemd runs.
func newAgent(getenv func(string) string, stderr io.Writer) *cobra.Command {
	f := newAgentFlags()
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run the agent, which elects the one unit that acts and answers which it is",
		Long: `Run the agent. The agents of all units elect the one unit that acts. Its name is in
the Northbound database, which is written only when another unit takes over; the
agents ask each other whether they are alive. If an agent is killed, another one
acts within 10 seconds; if it is stopped, at once.

It serves a read-only API: /, /status, /metrics and /healthz. The charm runs it with
--config; flags override the file. On SIGHUP it reads the file and its certificate
again.`,
		Example: "  ovn-central-operator agent --unit ovn-central/0 --nb ssl:10.0.0.5:6641 --sb ssl:10.0.0.5:16642 " +
			"--private-key key_host --certificate cert_host --ca-cert ovn-central.crt " +
			"--peer-listen 10.0.0.5:16402 --peer 10.0.0.6:16402 --peer 10.0.0.7:16402",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{pageKey: "reference/agent"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAgent(cmd.Context(), func() (config.Config, error) { return f.load(cmd) }, ovndb.PathsFromEnv(getenv),
				slog.New(slog.NewTextHandler(stderr, nil)))
		},
	}
	f.define(cmd.Flags())
	offer(cmd, "mode", fixed(string(config.Off), string(config.Advise), string(config.On)))
	for _, name := range []string{"config", "private-key", "certificate", "ca-cert", "socket"} {
		offer(cmd, name, files)
	}
	return cmd
}

// define defines the flags. Their defaults are the present values.
func (f *agentFlags) define(flags *pflag.FlagSet) {
	c := &f.config
	flags.StringVar(&f.file, "config", "", "JSON file, written by the charm, whose keys are the names of these flags")
	flags.StringVar(&c.Unit, "unit", c.Unit, "name of this unit")
	flags.StringSliceVar(&c.NB, "nb", c.NB,
		"where the Northbound database is: unix:FILE, tcp:HOST:PORT or ssl:HOST:PORT, several with commas")
	flags.StringSliceVar(&c.SB, "sb", c.SB, "where the Southbound database is")
	flags.StringVar(&c.Key, "private-key", c.Key, "key for ssl: and for other agents")
	flags.StringVar(&c.Certificate, "certificate", c.Certificate, "certificate for ssl: and for other agents")
	flags.StringVar(&c.CA, "ca-cert", c.CA, "certificate of the CA for ssl: and for other agents")
	flags.StringVar((*string)(&c.Mode), "mode", string(c.Mode), "off: never act; advise: report only; on: act")
	secondsVar(flags, &c.TTL, "lease-ttl", c.TTL,
		"how long the unit that acts may be silent before another one takes over")
	secondsVar(flags, &c.HoldDown, "hold-down", c.HoldDown,
		"how long a chassis or gateway must be unchanged before the agent acts on it")
	flags.BoolVar(&c.NeutronGateways, "schedule-neutron-gateways", c.NeutronGateways,
		"act on gateways that Neutron owns, too")
	flags.BoolVar(&c.CordonNew, "cordon-new-chassis", c.CordonNew,
		"with --mode on: cordon a chassis that can host gateways for the first time")
	flags.BoolVar(&c.Northd, "northd", c.Northd, "an ovn-northd runs on this machine: act only while it works")
	flags.StringVar(&c.Listen, "listen", c.Listen, "address of the API for programs on this machine")
	flags.StringVar(&c.PeerListen, "peer-listen", c.PeerListen,
		"address at which other agents query this one; without it this unit never acts")
	flags.StringVar(&c.Socket, "socket", c.Socket,
		"path of the Unix socket for operations on nodes; only its owner can open it")
	flags.StringArrayVar(&c.Peers, "peer", c.Peers, "address and port of another agent; may be repeated")
}

// load reads the configuration, and checks the databases.
func (f *agentFlags) load(cmd *cobra.Command) (config.Config, error) {
	c := f.config
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err == nil {
			c, err = config.Parse(text, c)
		}
		if err != nil {
			return c, fmt.Errorf("cannot read the agent's configuration %s: %w", f.file, err)
		}
		over, flags := agentFlags{config: c}, new(pflag.FlagSet)
		over.define(flags)
		cmd.Flags().Visit(func(typed *pflag.Flag) {
			if err == nil {
				err = setAs(flags.Lookup(typed.Name), typed)
			}
		})
		if c = over.config; err != nil {
			return c, err
		}
	}
	databases := databaseFlags{
		nb: strings.Join(c.NB, ","), sb: strings.Join(c.SB, ","), output: "text",
		credentials: ovndb.Credentials{Key: c.Key, Certificate: c.Certificate, CA: c.CA},
	}
	return c, databases.check([2]string{"--nb", "--sb"})
}

// setAs gives a flag the value of another flag.
func setAs(flag, other *pflag.Flag) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.Replace(other.Value.(pflag.SliceValue).GetSlice()) //nolint:forcetypeassert // both have one type
	}
	return flag.Value.Set(other.Value.String())
}

// runAgent runs agents one after the other until ctx is done: some settings are fixed at the start, so a change of
// them needs a new agent.
func runAgent(ctx context.Context, read func() (config.Config, error), paths ovndb.Paths, log *slog.Logger) error {
	c, err := read()
	if err != nil {
		return usageError{err}
	}
	hangups := make(chan os.Signal, 1) // never stopped: between two agents SIGHUP would end the process
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	var last *config.Config // the configuration of the last agent
	for {
		a, err := agent.New(c, paths, agent.Boottime, servers(c, paths, log), log)
		if err != nil {
			return usageErrorf("cannot run the agent: %w", err)
		}
		running, stop := context.WithCancel(ctx)
		go onHangup(running, hangups, func() {
			next, err := read()
			if err == nil {
				err = a.Reload(next)
			}
			if err != nil {
				log.Error("cannot reload the configuration; keeping the last one", "error", err)
			}
		})
		err = a.Run(ctx)
		stop()
		next, again := a.Again()
		switch {
		case err != nil && last != nil && ctx.Err() == nil: // another program uses the new address
			log.Error("cannot use the new configuration; keeping the last one", "error", err)
			c, last = *last, nil
		case err != nil || !again || ctx.Err() != nil:
			return err
		default:
			last, c = new(c), next
		}
	}
}

// servers gives the agent access to this machine's servers.
func servers(c config.Config, paths ovndb.Paths, log *slog.Logger) agent.Servers {
	machine := newMachine(juju.Env{Unit: c.Unit}, paths,
		ovndb.Credentials{Key: c.Key, Certificate: c.Certificate, CA: c.CA}, log)
	observer := &observe.Observer{Machine: machine}
	return agent.Servers{
		Observe: func(ctx context.Context) (observe.Report, ovndb.NorthdHealth) {
			if !c.Northd {
				return observer.ReportRemembered(ctx), ""
			}
			return observer.ReportRemembered(ctx), machine.Control.NorthdHealth(ctx)
		},
		PublishDamage: (&membership.Changer{Machine: machine, Observer: observer}).PublishDamage,
	}
}

func onHangup(ctx context.Context, hangups <-chan os.Signal, do func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			do()
		}
	}
}
