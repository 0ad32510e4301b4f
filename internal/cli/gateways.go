package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/placement"
	"github.com/ovn-central/ovn-central-operator/internal/render"
)

// gatewaysTimeout bounds a whole command on gateways.
const gatewaysTimeout = 30 * time.Minute

// catchUp bounds the wait for ovn-northd after each batch of changes.
const catchUp = 2 * time.Minute

// defaultWait bounds the wait for the data plane. A move takes it about a second; where
// the chassis of a group have yet to hear one another, some more.
const defaultWait = 60 * time.Second

// errMisplaced is returned where gateways are not where they should be, in the end.
var errMisplaced = errors.New("not all gateways are where they should be")

// cloudFlags say where the databases are, and how a plan is made.
type cloudFlags struct {
	nb, sb      string
	credentials ovsdb.Credentials
	format      string
	wait        time.Duration
	dryRun, yes bool
	networks    []string
	maxMoves    int
	scheduler   string
	seed        uint64
	allowNew    bool
}

// newGateways is for any OVN, also one without the charm.
func newGateways() *cobra.Command {
	c := &cobra.Command{
		Use:   "gateways",
		Short: "See and move the gateways of routers",
		Long: `See where the gateways of routers are and should be, and move them. It works
with any OVN whose databases can be reached.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{fmt.Errorf("nothing to do: name a command (see %s --help)", cmd.CommandPath())}
		},
	}
	var f cloudFlags
	flags := c.PersistentFlags()
	flags.StringVar(&f.nb, "nb", "", "where the Northbound database is: unix:FILE, tcp:HOST:PORT or ssl:HOST:PORT, several with commas")
	flags.StringVar(&f.sb, "sb", "", "where the Southbound database is")
	flags.StringVar(&f.credentials.Key, "private-key", "", "key for ssl:")
	flags.StringVar(&f.credentials.Certificate, "certificate", "", "certificate for ssl:")
	flags.StringVar(&f.credentials.CA, "ca-cert", "", "certificate of the CA for ssl:")
	flags.StringArrayVar(&f.networks, "network", nil, "only gateways of this provider network; may be repeated")
	flags.StringVar(&f.format, "format", "text", "text, yaml or json")
	c.AddCommand(newGatewaysStatus(&f), newReschedule(&f), newRebalance(&f))
	return c
}

func newGatewaysStatus(f *cloudFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show how gateways are spread, and what is not as it should be",
		Example: "  ovn-central-operator gateways status --nb unix:/var/run/ovn/ovnnb_db.sock --sb unix:/var/run/ovn/ovnsb_db.sock",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), gatewaysTimeout)
			defer cancel()
			cloud, err := f.service(io.Discard).Look(ctx)
			if err != nil {
				return err
			}
			s := gateway.Look(cloud.State, f.options())
			s.Problems = append(s.Problems, cloud.Problems...)
			return f.show(cmd.OutOrStdout(), s)
		},
	}
}

func newReschedule(f *cloudFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "reschedule",
		Short: "Give every gateway as many candidates as it can have; moves none that works",
		Example: "  ovn-central-operator gateways reschedule --nb unix:/var/run/ovn/ovnnb_db.sock " +
			"--sb unix:/var/run/ovn/ovnsb_db.sock --dry-run",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, func(s gateway.State, _ int) gateway.Plan { return gateway.Reschedule(s, f.options()) }, false)
		},
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the plan and change nothing")
	c.Flags().DurationVar(&f.wait, "wait", defaultWait, "how long to wait for gateways to be active where they should be; 0 doesn't look")
	c.Flags().StringVar(&f.scheduler, "scheduler", string(gateway.LeastLoaded), "least-loaded or random")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "what random chooses by: the same again for the same number")
	return c
}

func newRebalance(f *cloudFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "rebalance",
		Short: "Move gateways from chassis that host many to those that host few",
		Long: `Move gateways from chassis that host many of a provider network to those that
host few. Each gateway that moves loses its traffic for about a second, so that it
takes --yes.`,
		Example: "  ovn-central-operator gateways rebalance --nb unix:/var/run/ovn/ovnnb_db.sock " +
			"--sb unix:/var/run/ovn/ovnsb_db.sock --dry-run",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, func(s gateway.State, done int) gateway.Plan {
				o := f.options()
				if o.MaxMoves > 0 {
					if o.MaxMoves -= done; o.MaxMoves <= 0 {
						return gateway.Plan{Operation: "rebalance"}
					}
				}
				return gateway.Rebalance(s, o)
			}, true)
		},
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the plan and change nothing")
	c.Flags().DurationVar(&f.wait, "wait", defaultWait, "how long to wait for gateways to be active where they should be; 0 doesn't look")
	c.Flags().BoolVar(&f.yes, "yes", false, "really move gateways")
	c.Flags().IntVar(&f.maxMoves, "max-moves", 0, "move no more gateways than this; 0 is no bound")
	c.Flags().BoolVar(&f.allowNew, "allow-new-candidates", false, "also move to chassis that were no candidates")
	return c
}

func (f *cloudFlags) options() gateway.Options {
	return gateway.Options{
		Scheduler: gateway.Scheduler(f.scheduler), Draw: rand.New(rand.NewPCG(f.seed, 0)).IntN, //nolint:gosec // a schedule is no secret
		Networks: f.networks, MaxMoves: f.maxMoves, AllowNewCandidates: f.allowNew,
	}
}

// check finds what is wrong with the flags.
func (f *cloudFlags) check() error {
	switch {
	case f.nb == "" || f.sb == "":
		return usageError{fmt.Errorf("--nb and --sb say where the databases are, such as --nb unix:/var/run/ovn/ovnnb_db.sock")}
	case !endpoints(f.nb):
		return usageError{fmt.Errorf("--nb %q is not unix:FILE, tcp:HOST:PORT or ssl:HOST:PORT, nor several of them with commas", f.nb)}
	case !endpoints(f.sb):
		return usageError{fmt.Errorf("--sb %q is not unix:FILE, tcp:HOST:PORT or ssl:HOST:PORT, nor several of them with commas", f.sb)}
	case f.maxMoves < 0:
		return usageError{fmt.Errorf("--max-moves %d is less than 0", f.maxMoves)}
	case f.format != "text" && f.format != "yaml" && f.format != "json":
		return usageError{fmt.Errorf("--format %q is none of text, yaml, json", f.format)}
	case f.wait < 0:
		return usageError{fmt.Errorf("--wait %s is less than 0", f.wait)}
	case f.scheduler != "" && f.scheduler != string(gateway.LeastLoaded) && f.scheduler != string(gateway.Random):
		return usageError{fmt.Errorf("--scheduler %q is neither %s nor %s", f.scheduler, gateway.LeastLoaded, gateway.Random)}
	}
	return nil
}

// endpoints says whether a list looks like one of endpoints.
func endpoints(list string) bool {
	return !slices.ContainsFunc(strings.Split(list, ","), func(e string) bool {
		protocol, rest, found := strings.Cut(e, ":")
		return !found || rest == "" || protocol != "unix" && protocol != "tcp" && protocol != "ssl"
	})
}

// run shows a plan, and carries it out.
func (f *cloudFlags) run(cmd *cobra.Command, plan placement.Planner, confirm bool) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), gatewaysTimeout)
	defer cancel()
	out := cmd.OutOrStdout()
	progress := out
	if f.format != "text" {
		progress = cmd.ErrOrStderr() // what a program reads is one document
	}
	s := f.service(progress)
	cloud, err := s.Look(ctx)
	if err != nil {
		return err
	}
	p := plan(cloud.State, 0)
	p.Problems = append(p.Problems, cloud.Problems...)
	if err := f.show(out, p); err != nil {
		return err
	}
	switch {
	case p.Empty():
		return nil
	case f.dryRun:
		fmt.Fprintln(progress, "\nnothing was changed (--dry-run)")
		return nil
	case confirm && !f.yes:
		return usageError{fmt.Errorf("%d gateways would lose their traffic for about a second: say --yes", p.Moves())}
	}
	changed, err := s.Apply(ctx, plan)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%d gateways changed\n", len(changed))
	if f.wait == 0 {
		return nil
	}
	missing, err := s.Prove(ctx, changed, f.wait)
	if err != nil {
		return err
	}
	for _, m := range missing {
		fmt.Fprintf(progress, "  %s: %s\n", m.Where, m.Text)
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %d after %s; run: %s gateways status", errMisplaced, len(missing), f.wait, cmd.Root().Name())
	}
	fmt.Fprintln(progress, "every gateway is active where it should be")
	return nil
}

func (f *cloudFlags) service(progress io.Writer) *placement.Service {
	return &placement.Service{
		Dialer: &ovsdb.Dialer{Credentials: f.credentials}, NB: strings.Split(f.nb, ","), SB: strings.Split(f.sb, ","), Catch: catchUp,
		Progress: func(_ context.Context, line string) { fmt.Fprintln(progress, line) },
	}
}

// show prints a document in the form that was asked for.
func (f *cloudFlags) show(out io.Writer, document interface{ Text() string }) (err error) {
	text := strings.TrimSuffix(document.Text(), "\n")
	switch f.format {
	case "yaml":
		text, err = render.YAML(document)
	case "json":
		text, err = render.JSON(document)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, text)
	return err
}
