package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const logTimeout = 20 * time.Second

// shownLines is the number of lines of each log that [Fleet.Collect] shows.
const shownLines = 25

var collected = []string{
	"var/log/ovn", "var/log/openvswitch", "var/log/apt/term.log", "var/log/dpkg.log",
	"etc/default/ovn-central", "etc/ovn/ovn-northd-db-params.conf", "etc/ufw/user.rules",
}

// Journal returns what journalctl prints for args, of this boot and those before it. The machine must be on.
func (m *Machine) Journal(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	return m.Exec(ctx, append([]string{"journalctl", "--no-pager", "--quiet", "--output=short-iso"}, args...)...)
}

// Collect copies the logs of every machine to dir, and shows the ends of the journals of OVN and of Juju's agents.
func (f *Fleet) Collect(ctx context.Context, dir string, show io.Writer) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	var errs []error
	for _, m := range f.Machines() {
		to := filepath.Join(dir, m.Name())
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		for _, from := range collected {
			errs = append(errs, copyTree(m.Root(), from, to))
		}
		errs = append(errs, os.WriteFile(filepath.Join(to, "console.log"), []byte(m.console()), 0o644))
		if !m.On() {
			fmt.Fprintf(show, "== %s is off\n", m.Name())
			continue
		}
		journal, err := m.Journal(ctx)
		errs = append(errs, err, os.WriteFile(filepath.Join(to, "journal.log"), []byte(journal), 0o644))
		for _, unit := range []string{"ovn-*", "jujud-*"} {
			// It fails if no such unit ever ran.
			text, _ := m.Journal(ctx, "--unit="+unit, fmt.Sprintf("--lines=%d", shownLines))
			fmt.Fprintf(show, "== %s, journal of %s, its last %d lines\n%s", m.Name(), unit, shownLines, text)
		}
	}
	fmt.Fprintf(show, "== all of it: %s\n", dir)
	return errors.Join(errs...)
}

// copyTree copies a file or directory of a machine's disk without following links.
func copyTree(root, from, to string) error {
	err := filepath.WalkDir(filepath.Join(root, from), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(path, root), "/"), "/", "_")
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
	return ignoreMissing(err)
}
