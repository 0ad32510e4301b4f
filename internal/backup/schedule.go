package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// failureName is the file in which stands why the last backup was not made, in at most maxNote bytes.
const (
	failureName = ".failure"
	maxNote     = 64 << 10
)

// TakeScheduled is [Service.Take], for a timer: why it failed is kept beside the backups
// until one has been made.
func (s *Service) TakeScheduled(ctx context.Context, dir string, keep int) (string, error) {
	path, _, err := s.Take(ctx, dir, keep)
	note := filepath.Join(dir, failureName)
	if _, unsafe := trusted(dir); unsafe != nil {
		return "", err // nothing is written there, no note either: Observe finds it out by itself
	}
	if errors.Is(err, ErrBusy) {
		return "", err // that one's end tells
	}
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		if failed := os.MkdirAll(dir, 0o700); failed != nil {
			return "", errors.Join(err, failed)
		}
		return "", errors.Join(err, atomicfile.Write(note, []byte(line+"\n"), 0o600))
	}
	if gone := os.Remove(note); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		return path, fmt.Errorf("cannot delete the note of an earlier backup's failure: %w", gone)
	}
	return path, nil
}

// State is what is known of the backups in a directory.
type State struct {
	// Newest is when the newest one was taken; zero where there is none.
	Newest time.Time
	// Failure is why the last scheduled one was not made; empty where it was.
	Failure string
}

// Observe finds out how the backups in a directory are.
func Observe(dir string) (State, error) {
	var s State
	all, err := list(dir)
	if err != nil {
		return s, err
	}
	if len(all) > 0 {
		s.Newest, _ = time.Parse(nameLayout, filepath.Base(all[len(all)-1])) // it is listed for its name
	}
	if _, err := trusted(dir); err != nil {
		s.Failure = fmt.Sprintf("cannot back up to %s: %v", dir, err)
		return s, nil
	}
	text, err := readRegular(filepath.Join(dir, failureName), maxNote)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("cannot tell whether the last backup failed: %w", err)
	}
	s.Failure = strings.TrimSpace(string(text))
	return s, nil
}

// Age says how old the newest backup is where they are made at an interval; empty where none
// is, or there is none. It is in whole hours, since each other text is another status that
// Juju keeps.
func (s State) Age(interval time.Duration, now time.Time) string {
	if interval == 0 || s.Newest.IsZero() {
		return ""
	}
	switch hours := now.Sub(s.Newest) / time.Hour; {
	case hours < 1:
		return "newest backup less than 1 h old"
	case hours < 48:
		return fmt.Sprintf("newest backup %d h old", hours)
	default:
		return fmt.Sprintf("newest backup %d d old", hours/24)
	}
}

// Problem says in one line what is wrong with backups that are to be made at an interval,
// and were not before since; empty where nothing is.
func (s State) Problem(interval time.Duration, since, now time.Time) string {
	if interval == 0 {
		return ""
	}
	from, late := s.Newest, "overdue"
	if from.IsZero() {
		late = "none"
	}
	if from.Before(since) {
		from = since
	}
	switch {
	case s.Failure != "":
		return s.Failure
	case now.Sub(from) > 2*interval:
		return late
	}
	return ""
}
