package apt

import (
	"context"
	_ "embed" // the program below
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

//go:embed policy-rc.d
var policyProgram string

// Policy keeps packages' scripts from restarting the services, whichever program upgrades the packages. It uses
// policy-rc.d with the files of charm-helpers (contrib/openstack/policy_rcd.py), which charms on one machine share.
// It also configures needrestart, which Ubuntu runs after each apt-get: needrestart restarts services that run with
// an old version of a library, and ignores policy-rc.d.
type Policy struct {
	Runner run.Runner
	Paths  ovndb.Paths
	// App is the application. The files are named after it.
	App string
}

const policyLink = "/usr/sbin/policy-rc.d"

// policyPriority is lower than the priority of charm-helpers (50). So charm-helpers' program, which reads the same
// files, stays in place.
const policyPriority = "40"

func (p Policy) file() string {
	return filepath.Join(filepath.Dir(p.Paths.Etc), "policy-rc.d", "charm-"+p.App+".policy")
}

func (p Policy) deferred() string { return filepath.Join(filepath.Dir(p.Paths.DB), "policy-rc.d") }

func (p Policy) program() string {
	return filepath.Join(filepath.Dir(p.Paths.DB), "charm", p.App, "policy-rc.d")
}

// needrestart returns the path of a file that forbids needrestart to restart the services. The file has an effect
// even if needrestart is installed later.
func (p Policy) needrestart() string {
	return filepath.Join(filepath.Dir(p.Paths.Etc), "needrestart", "conf.d", "charm-"+p.App+".conf")
}

// link returns the path of the program that packages' scripts ask, below the root that contains Etc.
func (p Policy) link() string {
	return filepath.Join(filepath.Dir(filepath.Dir(p.Paths.Etc)), policyLink)
}

// obstacle returns why packages' scripts ignore the policies. It is nil if the scripts ask a program that reads the
// policies: ours or that of charm-helpers.
func (p Policy) obstacle() error {
	link, policies := p.link(), filepath.Dir(p.file())
	is, err := filepath.EvalSymlinks(link)
	if err != nil {
		return fmt.Errorf("cannot find what packages ask: %w", err)
	}
	text, err := os.ReadFile(is)
	info, _ := os.Lstat(link)
	switch {
	case err != nil:
		return fmt.Errorf("cannot read what packages ask: %w", err)
	case strings.Contains(string(text), policies):
		return nil
	case info != nil && info.Mode().IsRegular():
		return finding.Reason{Code: finding.PolicyFileInPlace, Name: link, Value: policies}.Err()
	}
	return finding.Reason{
		Code: finding.PolicyOfOthers, Name: link, Value: is, Because: []finding.Reason{finding.Quote(policies)},
	}.Err()
}

// Forbid refuses every restart and stop of the services by a package. If another program has replaced policy-rc.d,
// Forbid leaves that in place, writes the policy, and returns an error that names the obstacle.
func (p Policy) Forbid(ctx context.Context) error {
	program := strings.NewReplacer("@POLICIES@", filepath.Dir(p.file()), "@DEFERRED@", p.deferred()).Replace(policyProgram)
	var policy, exempted strings.Builder
	policy.WriteString("# Managed by juju\nblocked_actions:\n")
	exempted.WriteString("# Managed by juju\n")
	for _, service := range slices.Sorted(slices.Values(ovndb.AllServices())) {
		fmt.Fprintf(&policy, "  %s:\n  - restart\n  - stop\n  - try-restart\n", service)
		// The file is in Perl, as needrestart.conf is.
		fmt.Fprintf(&exempted, "$nrconf{override_rc}->{qr(^%s\\.service$)} = 0;\n", regexp.QuoteMeta(string(service)))
	}
	fmt.Fprintf(&policy, "policy_requestor_name: %s\npolicy_requestor_type: charm\n", p.App)
	_, err := atomicfile.Install(p.program(), []byte(program), 0o755)
	if err == nil {
		_, err = atomicfile.Install(p.file(), []byte(policy.String()), 0o644)
	}
	if err == nil {
		_, err = atomicfile.Install(p.needrestart(), []byte(exempted.String()), 0o644)
	}
	if err == nil {
		err = p.register(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot hold packages' restarts: %w", err)
	}
	return nil
}

// register makes packages ask our program, unless they already ask a program that reads the same policies. After a
// failure, the next hook calls it again.
func (p Policy) register(ctx context.Context) error {
	if p.obstacle() == nil {
		return nil
	}
	_, err := p.Runner.Run(ctx, run.Command{
		Name: "update-alternatives",
		Args: []string{"--install", policyLink, "policy-rc.d", p.program(), policyPriority},
	})
	if err != nil {
		return err
	}
	return p.obstacle() // update-alternatives(1) ignores a file that is not a link, and exits with 0
}

// Allow undoes [Policy.Forbid]. The program stays: it forbids nothing without a policy.
func (p Policy) Allow() error {
	if err := atomicfile.Remove(p.file(), p.needrestart()); err != nil {
		return fmt.Errorf("cannot let packages restart services again: %w", err)
	}
	return nil
}

// Remove does what [Policy.Allow] does, and removes the program.
func (p Policy) Remove(ctx context.Context) error {
	err := p.Allow()
	if _, missing := os.Stat(p.program()); missing != nil {
		return err
	}
	_, failed := p.Runner.Run(ctx, run.Command{
		Name: "update-alternatives",
		Args: []string{"--remove", "policy-rc.d", p.program()},
	})
	return errors.Join(err, failed, os.Remove(p.program()))
}

// Deferred returns the restarts and stops that were refused for this application. Each is recorded in a file until
// [Policy.Forget]. The umbrella service of the package means all services.
func (p Policy) Deferred() (map[string]ovndb.Service, error) {
	files, err := filepath.Glob(filepath.Join(p.deferred(), "*.deferred"))
	if err != nil {
		return nil, err
	}
	services := map[string]ovndb.Service{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return services, fmt.Errorf("cannot read which restarts were refused: %w", err)
		}
		event := map[string]string{}
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			event[key] = strings.Trim(value, `'"`)
		}
		if event["policy_requestor_name"] == p.App {
			services[file] = ovndb.Service(strings.TrimSuffix(event["service"], ".service"))
		}
	}
	return services, nil
}

// Forget removes the records of refused restarts. The caller has made sure that the restarts will happen.
func (p Policy) Forget(deferred map[string]ovndb.Service) error {
	for file := range deferred {
		if err := atomicfile.Remove(file); err != nil {
			return fmt.Errorf("cannot forget a restart that was refused: %w", err)
		}
	}
	return nil
}
