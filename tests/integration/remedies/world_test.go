package remedies

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// world is a lab in which findings appear and end.
type world struct {
	*labtest.Model
	// on is the observed unit.
	on *lab.Unit
	// next is the text that the last command has printed about the next step.
	next string
}

// all returns all findings of the unit.
func (w *world) all() cluster.Findings {
	w.T.Helper()
	if w.on.Removed() {
		return nil
	}
	all := w.Findings(w.on)
	for _, d := range all {
		w.requireListed(d)
	}
	return all
}

// requireListed requires that a finding has no command, or no remedy at all, if its code is listed as one without, and
// that its commands can be typed.
func (w *world) requireListed(d present.Document) {
	w.T.Helper()
	code := finding.Code(d.Code)
	without := slices.Contains(withoutRemedy, code)
	for _, codes := range withoutCommand {
		if slices.Contains(codes, code) {
			for _, r := range d.Remedies {
				require.Empty(w.T, r.Commands, "%s has a command", d.Code)
			}
		}
	}
	for _, r := range d.Remedies {
		for _, line := range r.Commands {
			require.NoError(w.T, findingtest.Typed(line))
			if without {
				require.Contains(w.T, line, "juju debug-log ", "%s has a remedy, and no scenario", d.Code)
			}
		}
		require.False(w.T, without && r.Deed != "", "%s has a remedy, and no scenario", d.Code)
	}
}

// appears waits until the unit has the finding, running the hooks that Juju runs.
func (w *world) appears(code finding.Code) (found present.Document) {
	w.T.Helper()
	w.Tick(string(code)+" appears", func() (is bool) {
		found, is = w.all().Find(code, "")
		return is
	})
	w.T.Logf("%s: %s %s %q: %s", w.on.Name(), found.Severity, found.Code, found.Subject, found.Message)
	return found
}

// ends waits until none of these findings is left, running the hooks that Juju runs.
func (w *world) ends(codes ...finding.Code) {
	w.T.Helper()
	w.Tick(fmt.Sprint(codes, " end"), func() bool {
		all := w.all()
		return !slices.ContainsFunc(codes, func(code finding.Code) bool { return all.Has(code, "") })
	})
}

// do carries out a remedy as printed, and then the commands that its commands print as the next ones.
func (w *world) do(r finding.RemedyDocument) {
	w.T.Helper()
	for _, line := range r.Commands {
		w.follow(line)
	}
	if r.Deed != "" {
		w.perform(r.Deed)
	}
}

// follow types a command, and then each command that the previous one prints as the next.
func (w *world) follow(line string) {
	w.T.Helper()
	for ; line != ""; line = w.nextOf(line) {
		result := w.Type(line)
		require.Equal(w.T, "completed", result.Status, "%s: %s\n%v", line, result.Message, result.Results)
		w.next = result.Results["next"]
	}
}

// command matches an action in the text about the next step.
var command = regexp.MustCompile(`(?m)juju run \S+ [a-z-]+(?: [a-z-]+=\S+)*`)

// nextOf returns the command that a command has printed as the next. A proof comes once the units are active.
func (w *world) nextOf(line string) string {
	w.T.Helper()
	next := command.FindString(w.next)
	if !strings.HasSuffix(next, " recovery-status") {
		return next
	}
	if next == line {
		require.NoError(w.T, w.UpdateStatus(w.T.Context()))
	} else {
		w.Tick("the survivors are active", func() bool { return w.on.Workload().Status == "active" })
	}
	return next
}

// deeds carry out the tasks that an operator does without Juju.
var deeds = map[finding.Deed]func(w *world, args map[string]string){
	finding.StartMachine: func(w *world, args map[string]string) {
		for _, unit := range strings.Split(args["unit"], ", ") {
			require.NoError(w.T, w.Named(unit).PowerOn(w.T.Context()))
		}
	},
	finding.KickLeftovers:  func(*world, map[string]string) {}, // the finding STALE_MEMBER comes next
	finding.AwaitRemoval:   func(*world, map[string]string) {}, // one of its servers is back, the other is about to be
	finding.MakeSpace:      func(w *world, args map[string]string) { w.FreeDisk(args["path"]) },
	finding.MakeSpaceThere: func(w *world, _ map[string]string) { w.FreeDisk(w.on.DBDir()) },
	finding.MakeSpaceOn:    func(w *world, args map[string]string) { w.FreeDisk(w.Named(args["unit"]).DBDir()) },
	finding.MoveAway: func(w *world, args map[string]string) {
		_, code, err := w.on.Systemctl(w.T.Context(), "stop", args["service"])
		require.NoError(w.T, err)
		require.Zero(w.T, code)
		require.NoError(w.T, os.Rename(args["path"], args["path"]+".mine"))
	},
	finding.OpenPorts: func(w *world, args map[string]string) {
		w.ports(w.Named(args["unit"]), "--delete", "INPUT", "6643,6644")
	},
	finding.OpenPort: func(w *world, args map[string]string) {
		port := strings.TrimPrefix(args["value"], "port ")
		w.ports(w.on, "--delete", "INPUT", port)
		w.ports(w.on, "--delete", "OUTPUT", port)
	},
}

// argument matches the placeholder of an argument in the text of a deed.
var argument = regexp.MustCompile(`\\\{(\w+)\\\}`)

// perform carries out the task that the text of a deed describes.
func (w *world) perform(text string) {
	w.T.Helper()
	for deed, do := range deeds {
		pattern := regexp.MustCompile("^" + argument.ReplaceAllString(regexp.QuoteMeta(string(deed)), `(?P<$1>.+)`) + "$")
		matched := pattern.FindStringSubmatch(text)
		if matched == nil {
			continue
		}
		args := map[string]string{}
		for i, name := range pattern.SubexpNames() {
			args[name] = matched[i]
		}
		w.T.Logf("done: %s", text)
		do(w, args)
		return
	}
	require.Fail(w.T, "no such deed", text)
}

// ports makes iptables on a unit's machine refuse connections to ports there, or to such ports elsewhere, or stops
// that.
func (w *world) ports(u *lab.Unit, action, chain, ports string) {
	w.T.Helper()
	namespace, err := u.Machine.Namespace()
	require.NoError(w.T, err)
	out, err := exec.CommandContext(w.T.Context(), "nsenter", "--net="+namespace,
		"/usr/sbin/iptables", "--wait", action, chain, "-p", "tcp", "-m", "multiport", "--dports", ports,
		"-j", "REJECT", "--reject-with", "tcp-reset").CombinedOutput()
	require.NoError(w.T, err, string(out))
}
