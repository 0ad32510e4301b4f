package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What is masked and enabled are links below /etc/systemd/system, as of systemd
// itself.

// systemDir is what links of the machine call /etc/systemd/system.
const systemDir = "/etc/systemd/system"

// runtimeDir is what it calls the links that go with the next boot.
const runtimeDir = "/run/systemd/system"

func (m *Machine) unitLink(unit string) string {
	return filepath.Join(m.path(systemDir), fileOf(unit))
}

// fileOf is the name of a unit's file: of what has no other kind it is a service's.
func fileOf(unit string) string {
	if strings.HasSuffix(unit, timer) {
		return unit
	}
	return unit + ".service"
}

// timer is how the names of units end that start others at times: here they never do.
const timer = ".timer"

func (m *Machine) wantsDir() string {
	return filepath.Join(m.path(systemDir), "multi-user.target.wants")
}

// installLinks are the links by which a unit is enabled: path without the
// machine's directory → target.
func (u *unitFile) installLinks() map[string]string {
	links := map[string]string{}
	for _, target := range u.wantedBy {
		links[filepath.Join(systemDir, target+".wants", fileOf(u.name))] = u.path
	}
	for _, alias := range u.aliases {
		links[filepath.Join(systemDir, alias+".service")] = u.path
	}
	return links
}

// setLink makes a link, or removes it, and says so where that was needed.
func (m *Machine) setLink(link, target string, there bool) (said string, err error) {
	file := m.path(link)
	switch old, err := os.Readlink(file); {
	case there && err == nil && old == target:
		return "", nil
	case there && err == nil:
		return "", fmt.Errorf("File %s already exists and is a symlink to %s", link, old) //nolint:staticcheck // systemd's words
	case there:
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		return fmt.Sprintf("Created symlink %s → %s.\n", link, target), os.Symlink(target, file)
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	}
	return fmt.Sprintf("Removed %q.\n", link), os.Remove(file)
}

// setEnabled makes or removes the links of [Install].
func (m *Machine) setEnabled(u *unitFile, enabled bool) (said string, err error) {
	for link, target := range u.installLinks() {
		one, err := m.setLink(link, target, enabled)
		said += one
		if err != nil {
			return said, err
		}
	}
	return said, nil
}

func (m *Machine) setMasked(unit string, masked, runtime bool) (said string, err error) {
	link := filepath.Join(systemDir, unit+".service")
	if runtime {
		link = filepath.Join(runtimeDir, unit+".service")
	}
	if target, _ := os.Readlink(m.path(link)); !masked && target != os.DevNull {
		return "", nil
	}
	return m.setLink(link, os.DevNull, masked)
}

// unitFileState is what `is-enabled` says; empty for a unit that isn't there.
func (m *Machine) unitFileState(name string) string {
	u, err := m.unit(name)
	switch {
	case err != nil:
		return ""
	case u.runtime:
		return "masked-runtime"
	case u.masked:
		return "masked"
	case u.name != name:
		return "alias"
	case len(u.wantedBy) == 0 && len(u.aliases) == 0:
		return "static"
	}
	for link := range u.installLinks() {
		if _, err := os.Lstat(m.path(link)); err == nil {
			return "enabled"
		}
	}
	return "disabled"
}

// booted are the units that the machine starts with.
func (m *Machine) booted() []string {
	files, _ := filepath.Glob(filepath.Join(m.wantsDir(), "*.service"))
	return unitNames(files)
}
