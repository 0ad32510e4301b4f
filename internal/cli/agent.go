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
	"time"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/agent"
)

// agentTTL is how long a holder of the lease may stay silent, where nothing else is said
// (document 003).
const agentTTL = 5 * time.Second

// newAgent is what systemd runs, also for an OVN without the charm.
func newAgent(stderr io.Writer) *cobra.Command {
	var (
		c      agent.Config
		nb, sb string
	)
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run the agent: of all units' agents one is to act, and each tells which one that is",
		Long: `Run the agent. One on every unit finds, with the others, the one unit that is to
act: its name stands in the Northbound database, which is written only when
another one takes over; that it lives, the agents tell each other. One that is
killed is replaced within 10 seconds, one that is stopped at once.

It serves a read-only API: / gives the unit that acts, as {"name":"ovn-central/0"},
/status all that is known, /metrics that for Prometheus, /healthz whether the agent
works. It changes no gateway yet. SIGHUP has it read its certificate again.`,
		Example: "  ovn-central-operator agent --unit ovn-central/0 --nb ssl:10.0.0.5:6641 --sb ssl:10.0.0.5:16642 " +
			"--private-key key_host --certificate cert_host --ca-cert ovn-central.crt " +
			"--peer-listen 10.0.0.5:16402 --peer 10.0.0.6:16402 --peer 10.0.0.7:16402",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			databases := gatewayFlags{nb: nb, sb: sb, credentials: c.Credentials, format: "text"}
			if err := databases.check(); err != nil {
				return err
			}
			c.NB, c.SB = strings.Split(nb, ","), strings.Split(sb, ",")
			a, err := agent.New(c, agent.Boottime, slog.New(slog.NewTextHandler(stderr, nil)))
			if err != nil {
				return usageError{fmt.Errorf("cannot run the agent: %w", err)}
			}
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go onHangup(ctx, a.Reload)
			return a.Run(ctx)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Unit, "unit", "", "name of this unit")
	flags.StringVar(&nb, "nb", "", "where the Northbound database is: unix:FILE, tcp:HOST:PORT or ssl:HOST:PORT, several with commas")
	flags.StringVar(&sb, "sb", "", "where the Southbound database is")
	flags.StringVar(&c.Credentials.Key, "private-key", "", "key for ssl: and for other agents")
	flags.StringVar(&c.Credentials.Certificate, "certificate", "", "certificate for ssl: and for other agents")
	flags.StringVar(&c.Credentials.CA, "ca-cert", "", "certificate of the CA for ssl: and for other agents")
	flags.StringVar((*string)(&c.Mode), "mode", string(agent.Advise), "off: never act; advise: take part, and change no gateway")
	flags.DurationVar(&c.TTL, "lease-ttl", agentTTL, "how long the unit that acts may be silent before another one takes over")
	flags.StringVar(&c.Listen, "listen", "127.0.0.1:16401", "where programs of this machine ask")
	flags.StringVar(&c.PeerListen, "peer-listen", "", "where other agents ask; without it this unit never acts")
	flags.StringArrayVar(&c.Peers, "peer", nil, "where another agent is asked; may be repeated")
	return cmd
}

func onHangup(ctx context.Context, do func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			do()
		}
	}
}
