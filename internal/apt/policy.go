package apt

import (
	"context"
	_ "embed" // the program below
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

//go:embed policy-rc.d
var policyProgram string

// Policy keeps packages' scripts from restarting the services, whatever upgrades the
// packages: by policy-rc.d, with the files that charm-helpers has for it
// (contrib/openstack/policy_rcd.py), so that charms on one machine share them; and
// needrestart, which restarts what runs with a library's old version.
type Policy struct {
	Runner run.Runner
	Paths  ovndb.Paths
	// App is the application, which the files are named after.
	App string
}

const policyLink = "/usr/sbin/policy-rc.d"

// policyPriority is below that of charm-helpers (50): a program of theirs, which reads
// the same files, stays where it is.
const policyPriority = "40"

func (p Policy) file() string {
	return filepath.Join(filepath.Dir(p.Paths.Etc), "policy-rc.d", "charm-"+p.App+".policy")
}

func (p Policy) deferred() string { return filepath.Join(filepath.Dir(p.Paths.DB), "policy-rc.d") }

func (p Policy) program() string {
	return filepath.Join(filepath.Dir(p.Paths.DB), "charm", p.App, "policy-rc.d")
}

// link is what packages' scripts ask, below the root that Etc is in.
func (p Policy) link() string {
	return filepath.Join(filepath.Dir(filepath.Dir(p.Paths.Etc)), policyLink)
}

// obstacle is why packages' scripts don't heed the policies: empty if the program that
// they ask reads them, this one or one of charm-helpers.
func (p Policy) obstacle() string {
	link, policies := p.link(), filepath.Dir(p.file())
	is, err := filepath.EvalSymlinks(link)
	if err != nil {
		return fmt.Sprintf("cannot find what packages ask: %v", err)
	}
	text, err := os.ReadFile(is)
	info, _ := os.Lstat(link)
	switch {
	case err != nil:
		return fmt.Sprintf("cannot read what packages ask: %v", err)
	case strings.Contains(string(text), policies):
		return ""
	case info != nil && info.Mode().IsRegular():
		return fmt.Sprintf("move %s away (it does not read %s)", link, policies)
	}
	return fmt.Sprintf("%s leads to %s, which does not read %s; run: sudo update-alternatives --config policy-rc.d", link, is, policies)
}

// Forbid has every restart and stop of the services refused that a package asks for. What
// something else has put into the place of the program is left there: then the policy is
// written, and the error says what hinders it.
func (p Policy) Forbid(ctx context.Context) error {
	program := strings.NewReplacer("@POLICIES@", filepath.Dir(p.file()), "@DEFERRED@", p.deferred()).Replace(policyProgram)
	services := slices.Sorted(slices.Values(ovndb.AllServices()))
	var policy strings.Builder
	policy.WriteString("# Managed by juju\nblocked_actions:\n")
	for _, service := range services {
		fmt.Fprintf(&policy, "  %s:\n  - restart\n  - stop\n  - try-restart\n", service)
	}
	fmt.Fprintf(&policy, "policy_requestor_name: %s\npolicy_requestor_type: charm\n", p.App)
	for _, dir := range []string{filepath.Dir(p.file()), filepath.Dir(p.program()), filepath.Dir(p.needrestart())} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("cannot hold packages' restarts: %w", err)
		}
	}
	_, err := atomicfile.WriteIfChanged(p.program(), []byte(program), 0o755)
	if err == nil {
		_, err = atomicfile.WriteIfChanged(p.file(), []byte(policy.String()), 0o644)
	}
	if err == nil {
		_, err = atomicfile.WriteIfChanged(p.needrestart(), []byte(exempted()), 0o644)
	}
	if err == nil {
		err = p.register(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot hold packages' restarts: %w", err)
	}
	return nil
}

// register makes the program the one that packages ask, unless that one reads the same
// policies. A call that failed is made again by the next hook.
func (p Policy) register(ctx context.Context) error {
	if p.obstacle() == "" {
		return nil
	}
	_, err := p.Runner.Run(ctx, run.Command{Name: "update-alternatives", Args: []string{"--install", policyLink, "policy-rc.d", p.program(), policyPriority}})
	if obstacle := p.obstacle(); err == nil && obstacle != "" {
		// update-alternatives(1) leaves a file alone that is no link, and exits with 0.
		return errors.New(obstacle)
	}
	return err
}

// Allow takes back what [Policy.Forbid] has done. The program stays: without a policy it forbids nothing.
func (p Policy) Allow() error {
	for _, file := range []string{p.file(), p.needrestart()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot let packages restart services again: %w", err)
		}
	}
	return nil
}

// Remove is [Policy.Allow], and takes the program away too.
func (p Policy) Remove(ctx context.Context) error {
	err := p.Allow()
	if _, missing := os.Stat(p.program()); missing != nil {
		return err
	}
	_, failed := p.Runner.Run(ctx, run.Command{Name: "update-alternatives", Args: []string{"--remove", "policy-rc.d", p.program()}})
	return errors.Join(err, failed, os.Remove(p.program()))
}

// Deferred reads which restarts and stops were refused on this application's behalf, by the
// file that notes each. They stay until [Policy.Forget]. The name of the package's umbrella
// service means all services.
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

// Forget removes the notes of restarts that were refused, once the caller has made sure that
// they will be done.
func (p Policy) Forget(deferred map[string]ovndb.Service) error {
	for file := range deferred {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot forget a restart that was refused: %w", err)
		}
	}
	return nil
}
