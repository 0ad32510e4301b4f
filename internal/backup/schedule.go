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
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// failureName is the file with the reason why the last backup failed, of at most maxNote bytes.
const (
	failureName = ".failure"
	maxNote     = 64 << 10
)

// TakeScheduled is [Service.Take] for a timer. After a failure it stores the reason next to the backups until a
// backup succeeds.
func (s *Service) TakeScheduled(ctx context.Context, dir string, keep int) (string, error) {
	path, _, err := s.Take(ctx, dir, keep)
	note := filepath.Join(dir, failureName)
	if _, unsafe := trusted(dir); unsafe != nil {
		return "", err // no backup can be written there; Observe finds the problem itself
	}
	if errors.Is(err, ErrBusy) {
		return "", err // only the result of the running backup counts
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

// Summary is the state of the backups in a directory.
type Summary struct {
	// Newest is when the newest backup was taken; zero if there is none.
	Newest time.Time
	// Failure is why the last scheduled backup failed; empty if it succeeded.
	Failure string
}

// Observe returns the state of the backups in a directory.
func Observe(dir string) (Summary, error) {
	var s Summary
	all, err := list(dir)
	if err != nil {
		return s, err
	}
	if len(all) > 0 {
		s.Newest, _ = time.Parse(nameLayout, filepath.Base(all[len(all)-1])) // list returns only names of this form
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

// Age returns the age of the newest backup; nothing if no interval is set or there is no backup. The age is in whole
// hours, since Juju stores each different status.
func (s Summary) Age(interval time.Duration, now time.Time) finding.Reason {
	if interval == 0 || s.Newest.IsZero() {
		return finding.Reason{}
	}
	switch hours := int(now.Sub(s.Newest) / time.Hour); {
	case hours < 1:
		return finding.Reason{Code: finding.BackupIsNew}
	case hours < 48:
		return finding.Reason{Code: finding.BackupHours, Count: hours}
	default:
		return finding.Reason{Code: finding.BackupDays, Count: hours / 24}
	}
}

// Problem returns the problem with backups that should have been made at an interval since the given time; the zero
// Reason if the backups are in time.
func (s Summary) Problem(interval time.Duration, since, now time.Time) finding.Reason {
	if interval == 0 {
		return finding.Reason{}
	}
	from, late := s.Newest, finding.BackupsLate
	if from.IsZero() {
		late = finding.BackupsMissing
	}
	if from.Before(since) {
		from = since
	}
	switch {
	case s.Failure != "":
		return finding.Quote(s.Failure)
	case now.Sub(from) > 2*interval:
		return finding.Reason{Code: late}
	}
	return finding.Reason{}
}
