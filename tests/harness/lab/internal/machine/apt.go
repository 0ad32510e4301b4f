package machine

import (
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Exit codes of apt-get(8) and dpkg(1) for a failure.
const (
	aptFailure  = 100
	dpkgFailure = 2
)

const holder = 4711

// aptWords removes the options from apt's arguments; any option is accepted.
func aptWords(args []string) (words []string, onlyUpgrade bool) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-o" || arg == "--option" || arg == "-t" || arg == "-c":
			i++
		case arg == "--only-upgrade":
			onlyUpgrade = true
		case !strings.HasPrefix(arg, "-"):
			name, _, _ := strings.Cut(arg, "=")
			words = append(words, name)
		}
	}
	return words, onlyUpgrade
}

func (t *tool) aptGet(args []string) int {
	words, onlyUpgrade := aptWords(args)
	if len(words) == 0 {
		fmt.Fprintln(t.errs, "E: Invalid operation")
		return aptFailure
	}
	names := words[1:]
	switch words[0] {
	case "update":
		fmt.Fprintln(t.out, "Reading package lists...")
		return 0
	case "check":
		if t.locked() {
			return aptFailure
		}
		return 0
	case "install":
		return t.install(names, onlyUpgrade)
	}
	fmt.Fprintf(t.errs, "E: Invalid operation %s\n", words[0])
	return aptFailure
}

// busy reports whether another program holds dpkg's lock during this call.
func (t *tool) busy() (busy bool) {
	err := t.changePackages(func(p *packages) {
		if busy = p.Busy > 0; busy {
			p.Busy--
		}
	})
	return err == nil && busy
}

func (t *tool) locked() bool {
	busy := t.busy()
	if busy {
		fmt.Fprintf(t.errs, "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process %d (unattended-upgr)\n"+
			"N: Be aware that removing the lock file is not a solution and may break your system.\n"+
			"E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n", holder)
	}
	return busy
}

func (t *tool) install(names []string, onlyUpgrade bool) int {
	if t.locked() {
		return aptFailure
	}
	if t.packages().Unconfigured {
		fmt.Fprintln(t.errs, "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem. ")
		return aptFailure
	}
	fmt.Fprint(t.out, "Reading package lists...\nBuilding dependency tree...\nReading state information...\n")
	wanted := slices.Clone(names)
	for _, name := range names {
		if !slices.Contains(ovnPackages, name) {
			fmt.Fprintf(t.errs, "E: Unable to locate package %s\n", name)
			return aptFailure
		}
	}
	if slices.Contains(names, Umbrella) {
		wanted = slices.Concat(wanted, ovnPackages)
	}
	first, upgraded, err := t.unpack(wanted, onlyUpgrade)
	if err != nil {
		fmt.Fprintf(t.errs, "E: %v\n", err)
		return aptFailure
	}
	switch {
	case first || upgraded:
		err = t.configure(!first)
	default:
		for _, name := range names {
			fmt.Fprintf(t.out, "%s is already the newest version (%s).\n", name, t.packages().Installed[name])
		}
		fmt.Fprintln(t.out, "0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.")
	}
	if err != nil {
		fmt.Fprintf(t.errs, "dpkg: error processing package %s (--configure):\n %v\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n", Umbrella, err)
		return aptFailure
	}
	return 0
}

// unpack records the candidate's version for each package, and reports whether ovn-central was installed or upgraded.
func (t *tool) unpack(names []string, onlyUpgrade bool) (first, upgraded bool, err error) {
	versions, err := hostVersions()
	if err != nil {
		return false, false, err
	}
	if t.packages().Schemas {
		if err := writeSchemas(t.DataDir(), NewerSchema); err != nil {
			return false, false, err
		}
	}
	err = t.changePackages(func(p *packages) {
		for _, name := range names {
			old, candidate := p.Installed[name], p.candidate(name, versions[name])
			if old == candidate || old == "" && onlyUpgrade {
				continue
			}
			p.Installed[name] = candidate
			if name == Umbrella {
				first, upgraded = old == "", old != ""
			}
			fmt.Fprintf(t.out, "Setting up %s (%s) ...\n", name, candidate)
		}
	})
	return first, upgraded, err
}

// candidate returns the version that would be installed: the newest.
func (p packages) candidate(name, version string) string {
	best := version
	for _, other := range []string{p.Offered, p.Installed[name]} {
		if other != "" && exec.Command("/usr/bin/dpkg", "--compare-versions", other, "gt", best).Run() == nil {
			best = other
		}
	}
	return best
}

// aptCache is `apt-cache policy` without its tables.
func (t *tool) aptCache(args []string) int {
	words, _ := aptWords(args)
	if len(words) == 0 || words[0] != "policy" {
		return t.refuse(args)
	}
	versions, err := hostVersions()
	if err != nil {
		fmt.Fprintf(t.errs, "E: %v\n", err)
		return aptFailure
	}
	p := t.packages()
	for _, name := range words[1:] {
		fmt.Fprintf(t.out, "%s:\n  Installed: %s\n  Candidate: %s\n", name, cmp.Or(p.Installed[name], "(none)"), p.candidate(name, versions[name]))
	}
	return 0
}
