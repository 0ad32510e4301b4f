package machine

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// dpkg configures what was left, and has the real one answer what needs no
// machine.
func (t *tool) dpkg(args []string) int {
	switch {
	case slices.Contains(args, "--configure"):
		return t.configureLeft()
	case len(args) > 0 && slices.Contains([]string{"--compare-versions", "--print-architecture", "--version"}, args[0]):
		return t.real(args)
	}
	return t.refuse(args)
}

// dpkgReconfigure is dpkg-reconfigure(8) of the package: its script runs as after an
// upgrade.
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
	busy, due := false, false
	err := t.changePackages(func(p *packages) {
		if busy = p.Busy > 0; busy {
			p.Busy--
			return
		}
		due, p.Unconfigured = p.Unconfigured, false
	})
	switch {
	case err == nil && busy:
		fmt.Fprintf(t.errs, "dpkg: error: dpkg frontend lock was locked by another process with pid %d\n"+
			"Note: removing the lock file is always wrong, can damage the locked area\nand the entire system. See <https://wiki.debian.org/Teams/Dpkg/FAQ#db-lock>.\n", holder)
		return dpkgFailure
	case err == nil && due:
		fmt.Fprintf(t.out, "Setting up %s (%s) ...\n", Umbrella, t.packages().Installed[Umbrella])
		err = t.configure(false)
	}
	if err != nil {
		fmt.Fprintf(t.errs, "dpkg: error: %v\n", err)
		return dpkgFailure
	}
	return 0
}

// dpkgQuery is `dpkg-query --show`. Packages that the lab doesn't manage are
// those of the machine that it runs on.
func (t *tool) dpkgQuery(args []string) int {
	format := "${binary:Package}\t${Version}\n"
	show := false
	var names []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-W" || arg == "--show":
			show = true
		case (arg == "-f" || arg == "--showformat") && i+1 < len(args):
			i++
			format = args[i]
		case strings.HasPrefix(arg, "-f"):
			format = strings.TrimPrefix(arg[2:], "=")
		case strings.HasPrefix(arg, "--showformat="):
			format = strings.TrimPrefix(arg, "--showformat=")
		case !strings.HasPrefix(arg, "-"):
			names = append(names, arg)
		}
	}
	if !show {
		return t.refuse(args)
	}
	p := t.packages()
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(p.Installed))
	}
	code := 0
	for _, name := range names {
		version := p.Installed[name]
		switch {
		case version != "":
			fmt.Fprint(t.out, expandFormat(format, name, version, p.Unconfigured && name == Umbrella))
		case slices.Contains(ovnPackages, name) || t.real([]string{"-W", "-f=" + format, name}) != 0:
			if slices.Contains(ovnPackages, name) {
				fmt.Fprintf(t.errs, "dpkg-query: no packages found matching %s\n", name)
			}
			code = exitFailure
		}
	}
	return code
}

// expandFormat is dpkg-query's --showformat, with the fields that are asked for.
func expandFormat(format, name, version string, half bool) string {
	status, abbreviation := "installed", "ii "
	if half {
		status, abbreviation = "half-configured", "iF "
	}
	text := os.Expand(format, func(field string) string {
		field, _, _ = strings.Cut(field, ";")
		switch field {
		case "Package", "binary:Package":
			return name
		case "Version":
			return version
		case "Status":
			return "install ok " + status
		case "db:Status-Status":
			return status
		case "db:Status-Want":
			return "install"
		case "db:Status-Abbrev":
			return abbreviation
		}
		return ""
	})
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text)
}

// snap installs, refreshes, removes and lists snaps.
func (t *tool) snap(args []string) int {
	channel := "latest/stable"
	var words []string
	for i, arg := range args {
		switch name, value, _ := strings.Cut(arg, "="); {
		case name == "--channel" && value != "":
			channel = value
		case name == "--channel" && i+1 < len(args):
			channel = args[i+1]
		case i > 0 && args[i-1] == "--channel":
		case !strings.HasPrefix(arg, "-"):
			words = append(words, arg)
		}
	}
	if len(words) == 0 {
		return t.refuse(args)
	}
	names, known := words[1:], t.packages().Snaps
	var err error
	switch words[0] {
	case "install", "refresh":
		err = t.changePackages(func(p *packages) {
			for _, name := range names {
				p.Snaps[name] = channel
			}
		})
	case "remove":
		err = t.changePackages(func(p *packages) {
			for _, name := range names {
				delete(p.Snaps, name)
			}
		})
	case "list":
		return t.listSnaps(names, known)
	case "set", "connect", "restart", "start", "stop":
	default:
		return t.refuse(args)
	}
	if err != nil {
		fmt.Fprintf(t.errs, "error: %v\n", err)
		return exitFailure
	}
	return 0
}

func (t *tool) listSnaps(names []string, known map[string]string) int {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(known))
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return known[name] == "" })
	if len(names) == 0 {
		fmt.Fprintln(t.errs, "error: no matching snaps installed")
		return exitFailure
	}
	fmt.Fprintln(t.out, "Name                     Version  Rev  Tracking       Publisher  Notes")
	for _, name := range names {
		fmt.Fprintf(t.out, "%-24s 1.0      1    %-14s canonical  -\n", name, known[name])
	}
	return 0
}
