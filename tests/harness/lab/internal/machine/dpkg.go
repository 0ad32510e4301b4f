package machine

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

func (t *tool) dpkg(args []string) int {
	if slices.Contains(args, "--configure") {
		return t.configureLeft()
	}
	return t.refuse(args)
}

// dpkgReconfigure is dpkg-reconfigure(8) of the package: it runs the script of an upgrade.
func (t *tool) dpkgReconfigure(args []string) int {
	if !slices.Equal(args, []string{Umbrella}) {
		return t.refuse(args)
	}
	if err := t.configure(true); err != nil {
		fmt.Fprintf(t.errs, "dpkg-reconfigure: %v\n", err)
		return dpkgFailure
	}
	return 0
}

func (t *tool) configureLeft() int {
	if t.busy() {
		fmt.Fprintf(t.errs, "dpkg: error: dpkg frontend lock was locked by another process with pid %d\n"+
			"Note: removing the lock file is always wrong, can damage the locked area\nand the entire system. See <https://wiki.debian.org/Teams/Dpkg/FAQ#db-lock>.\n", holder)
		return dpkgFailure
	}
	due := false
	err := t.changePackages(func(p *packages) { due, p.Unconfigured = p.Unconfigured, false })
	if err == nil && due {
		fmt.Fprintf(t.out, "Setting up %s (%s) ...\n", Umbrella, t.packages().Installed[Umbrella])
		err = t.configure(false)
	}
	if err != nil {
		fmt.Fprintf(t.errs, "dpkg: error: %v\n", err)
		return dpkgFailure
	}
	return 0
}

// snap installs, refreshes, removes and lists snaps. Each has one service, which is active.
func (t *tool) snap(args []string) int {
	options := pflag.NewFlagSet(t.name, pflag.ContinueOnError)
	channel := options.String("channel", "latest/stable", "")
	if err := options.Parse(args); err != nil || options.NArg() < 2 {
		return t.refuse(args)
	}
	name := options.Arg(1)
	var err error
	switch options.Arg(0) {
	case "install", "refresh":
		err = t.changePackages(func(p *packages) { p.Snaps[name] = *channel })
	case "remove":
		err = t.changePackages(func(p *packages) { delete(p.Snaps, name) })
	case "list":
		return t.listSnap(name)
	case "services":
		fmt.Fprintf(t.out, "Service  Startup  Current  Notes\n%[1]s.%[1]s  enabled  active  -\n", name)
	case "connections":
		fmt.Fprintln(t.out, "Interface  Plug  Slot  Notes")
	default:
		return t.refuse(args)
	}
	if err != nil {
		fmt.Fprintf(t.errs, "error: %v\n", err)
		return exitFailure
	}
	return 0
}

func (t *tool) listSnap(name string) int {
	channel := t.packages().Snaps[name]
	if channel == "" {
		fmt.Fprintln(t.errs, "error: no matching snaps installed")
		return exitFailure
	}
	fmt.Fprintln(t.out, "Name                     Version  Rev  Tracking       Publisher  Notes")
	fmt.Fprintf(t.out, "%-24s 1.0      1    %-14s canonical  -\n", name, channel)
	return 0
}
