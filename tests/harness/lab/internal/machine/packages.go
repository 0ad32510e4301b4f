package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// The packages of OVN that a machine gets with ovn-central.
var ovnPackages = []string{Umbrella, "ovn-common", "openvswitch-common"}

// packages is the state of the machine's package tools.
type packages struct {
	// Installed has the version of each package.
	Installed map[string]string
	// Offered is a newer version of OVN's packages than the installed one.
	Offered string `json:",omitempty"`
	// Schemas reports whether that version also brings newer schemas.
	Schemas bool `json:",omitempty"`
	// Busy is how many more calls find dpkg's lock taken.
	Busy int `json:",omitempty"`
	// Unconfigured reports whether dpkg was interrupted before it configured ovn-central.
	Unconfigured bool `json:",omitempty"`
	// Snaps has the channel of each snap.
	Snaps map[string]string `json:",omitempty"`
}

func (m *Machine) packagesFile() string { return filepath.Join(m.Dir, "packages.json") }

// packages reads the state. It needs no lock: the file is replaced atomically.
func (m *Machine) packages() packages {
	p := packages{Installed: map[string]string{}, Snaps: map[string]string{}}
	if data, err := os.ReadFile(m.packagesFile()); err == nil {
		_ = json.Unmarshal(data, &p) // written by writeJSON
	}
	return p
}

// changePackages changes the state, one call at a time.
func (m *Machine) changePackages(f func(*packages)) error {
	lock, err := os.OpenFile(m.packagesFile()+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	p := m.packages()
	f(&p)
	return errors.Join(writeJSON(m.packagesFile(), p), m.writeStatus(p))
}

func (m *Machine) dpkgDir() string { return filepath.Join(m.Dir, "dpkg") }

// writeStatus writes dpkg's status file (deb-status(5)), which the system's dpkg-query reads.
func (m *Machine) writeStatus(p packages) error {
	var text strings.Builder
	for name, version := range p.Installed {
		status := "installed"
		if p.Unconfigured && name == Umbrella {
			status = "half-configured"
		}
		if version != "" {
			fmt.Fprintf(&text,
				"Package: %s\nStatus: install ok %s\nVersion: %s\nArchitecture: all\nMaintainer: lab\nDescription: lab\n\n",
				name, status, version)
		}
	}
	file := filepath.Join(m.dpkgDir(), "status")
	if err := os.WriteFile(file+".new", []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (m *Machine) ships(unit string) bool {
	return slices.Contains(packaged, unit) && m.packages().Installed[Umbrella] != ""
}

// OfferVersion offers a newer version of OVN's packages to apt-get, which changes nothing but versions.
func (m *Machine) OfferVersion(version string) error {
	return m.changePackages(func(p *packages) { p.Offered = version })
}

// OfferSchemas makes the newer version also bring newer schemas, of version [NewerSchema].
func (m *Machine) OfferSchemas() error {
	if err := writeSchemas(m.DataDir(), ""); err != nil {
		return err
	}
	return m.changePackages(func(p *packages) { p.Schemas = true })
}

// DataDir returns OVN_PKGDATADIR, which is set once the machine has packages with their own schemas.
func (m *Machine) DataDir() string { return filepath.Join(m.Dir, "share") }

// NewerSchema is the version of the schemas that [Machine.OfferSchemas] brings.
const NewerSchema = "99.0.0"

var schemaVersion = regexp.MustCompile(`"version": "[0-9.]+"`)

// writeSchemas copies the system's schemas into dir, with another version if one is given.
func writeSchemas(dir, version string) error {
	const system = "/usr/share/ovn"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"ovn-nb.ovsschema", "ovn-sb.ovsschema"} {
		text, err := os.ReadFile(filepath.Join(system, name))
		if err != nil {
			return err
		}
		if version != "" {
			text = schemaVersion.ReplaceAll(text, []byte(`"version": "`+version+`"`))
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// HoldDpkgLock makes the next n calls of apt-get or dpkg find the lock taken.
func (m *Machine) HoldDpkgLock(n int) error {
	return m.changePackages(func(p *packages) { p.Busy = n })
}

// InterruptDpkg leaves ovn-central unpacked and not configured, as a reset during the installation does.
func (m *Machine) InterruptDpkg() error {
	return m.changePackages(func(p *packages) { p.Unconfigured = true })
}

// Packages returns the packages that apt-get has installed, with their versions.
func (m *Machine) Packages() map[string]string { return m.packages().Installed }

// LayOutPackages installs ovn-central without starting anything: its services are masked, as the Python charm has it.
func (m *Machine) LayOutPackages() error {
	versions, err := hostVersions()
	if err != nil {
		return err
	}
	for _, unit := range []string{Umbrella, NB.Service(), SB.Service()} {
		if err := m.setMasked(unit, true, false); err != nil {
			return err
		}
	}
	err = m.changePackages(func(p *packages) {
		for _, name := range ovnPackages {
			p.Installed[name] = versions[name]
		}
	})
	if err != nil {
		return err
	}
	return m.enablePackaged()
}

// enablePackaged makes the links of the packages' [Install] sections, as deb-systemd-helper does.
func (m *Machine) enablePackaged() error {
	for _, name := range packaged {
		u, err := m.packagedUnit(name)
		if err != nil {
			return fmt.Errorf("cannot enable %s: %w", name, err)
		}
		if err := m.setEnabled(u, true); err != nil {
			return fmt.Errorf("cannot enable %s: %w", name, err)
		}
	}
	return nil
}

// configure does what the maintainer's script of ovn-central does after unpacking: it enables the services, and
// starts them, or restarts them after an upgrade, unless they are masked or policy-rc.d forbids that
// (deb-systemd-invoke(1)).
func (m *Machine) configure(upgrade bool) error {
	if !upgrade {
		if err := m.enablePackaged(); err != nil {
			return err
		}
	}
	verb := "start"
	if upgrade {
		verb = "restart"
	}
	if m.forbidden(verb) {
		return nil
	}
	var due []string
	for _, unit := range packaged {
		answer, err := m.ask(context.Background(), []string{"is-active", unit})
		if m.unitFileState(unit) == "enabled" || err == nil && answer.Code == 0 && upgrade {
			due = append(due, unit)
		}
	}
	if len(due) == 0 {
		return nil
	}
	_, err := m.ask(context.Background(), append([]string{verb}, due...))
	return err
}

// notAllowed is the exit code with which policy-rc.d forbids an action.
const notAllowed = 101

// forbidden reports whether the machine's policy-rc.d forbids the verb. The file is in the machine's directory.
func (m *Machine) forbidden(verb string) bool {
	cmd := exec.Command(filepath.Join(m.Dir, "usr/sbin/policy-rc.d"), Umbrella, verb)
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	return errors.As(err, &exit) && exit.ExitCode() == notAllowed
}

// updateAlternatives is update-alternatives(1) for one link and alternative. It leaves other files alone.
func (t *tool) updateAlternatives(args []string) int {
	switch {
	case len(args) == 5 && args[0] == "--install":
		link := filepath.Join(t.Dir, args[1])
		if info, err := os.Lstat(link); err == nil && info.Mode().IsRegular() {
			fmt.Fprintf(t.errs, "update-alternatives: warning: not replacing %s with a link\n", args[1])
			return 0
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.RemoveAll(link), os.Symlink(args[3], link)); err != nil {
			fmt.Fprintf(t.errs, "update-alternatives: error: %v\n", err)
			return exitFailure
		}
		return 0
	case len(args) == 3 && args[0] == "--remove":
		_ = os.Remove(filepath.Join(t.Dir, "usr/sbin", args[1])) // there may be none
		return 0
	}
	return t.refuse(args)
}

var hostVersions = sync.OnceValues(func() (map[string]string, error) {
	versions := map[string]string{}
	for _, name := range ovnPackages {
		out, err := exec.Command("/usr/bin/dpkg-query", "--admindir=/var/lib/dpkg", "-W", "-f=${Version}", name).Output()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("cannot find the version of %s: the lab needs Debian or Ubuntu: %w", name, err)
		case err != nil || len(out) == 0:
			return nil, fmt.Errorf("cannot find the version of %s: it isn't installed: %w", name, err)
		}
		versions[name] = strings.TrimSpace(string(out))
	}
	return versions, nil
})
