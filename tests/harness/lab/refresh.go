package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/juju/charm/v12"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Refresh is `juju refresh`: every unit gets the new charm's files, and runs upgrade-charm and config-changed.
func (l *Lab) Refresh(ctx context.Context, charmDir string) error {
	ch, err := readCharm(charmDir)
	if err != nil {
		return fmt.Errorf("cannot refresh: %w", err)
	}
	version := 0
	l.model.Do(func(s *model.State) { version = s.CharmVersion + 1 })
	if err := copyTree(charmDir, l.charmVersion(version)); err != nil {
		return fmt.Errorf("cannot refresh: %w", err)
	}
	l.mu.Lock()
	l.charm = ch
	l.mu.Unlock()
	l.model.Do(func(s *model.State) {
		s.CharmVersion = version
		for _, u := range s.Units {
			if s.Quirks.RefreshOnce && u.Lost {
				u.Uniter.MissedCharm = version
			}
		}
	})
	return l.settleStarted(ctx)
}

func (l *Lab) spec() *charm.CharmDir {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.charm
}

func (l *Lab) charmDir() string {
	version := 0
	if l.model != nil {
		l.model.Do(func(s *model.State) { version = s.CharmVersion })
	}
	return l.charmVersion(version)
}

func (l *Lab) charmVersion(version int) string {
	if version == 0 {
		return filepath.Join(l.o.Dir, "charm")
	}
	return filepath.Join(l.o.Dir, fmt.Sprintf("charm-%d", version))
}

// unpack replaces the charm's files on a unit; other files stay, as under Juju.
func (l *Lab) unpack(u *Unit) error {
	had := 0
	u.look(func(m *model.Unit) { had = m.Uniter.CharmVersion })
	for _, charm := range []string{l.charmVersion(had), l.charmDir()} {
		err := filepath.WalkDir(charm, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(charm, path)
			if err != nil {
				return err
			}
			err = os.Remove(filepath.Join(u.CharmDir(), rel))
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("cannot unpack the charm on %s: %w", u.name, err)
		}
	}
	if err := copyTree(l.charmDir(), u.CharmDir()); err != nil {
		return fmt.Errorf("cannot unpack the charm on %s: %w", u.name, err)
	}
	return nil
}
