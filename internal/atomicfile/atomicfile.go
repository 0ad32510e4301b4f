// Package atomicfile replaces whole files. A reader finds the old or the new content, never a part of either, even if
// the writer is killed or the disk is full.
package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// abandoned is the age difference from which another temporary file of the same target counts as left by a killed
// writer: a write takes milliseconds. Such a file may contain a key.
const abandoned = time.Hour

// Write replaces the file at path by a file with data and exactly the permissions of mode, for any umask. The
// directory must exist. After success, a power failure does not bring the old file back. An error wraps the cause
// ([fs.ErrNotExist], syscall.ENOSPC, ...), names path, and means that the file is unchanged, with one exception: if
// the directory can't be synced, the new file is in place, and a power failure may undo that.
func Write(path string, data []byte, mode fs.FileMode) error {
	if err := write(path, data, mode); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// WriteIfChanged does [Write] if the file is missing or has other content. If only the permissions differ, it repairs
// them. changed reports whether it did either; it is undefined after an error.
func WriteIfChanged(path string, data []byte, mode fs.FileMode) (changed bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !holds(path, data) {
		return true, Write(path, data, mode)
	}
	if info.Mode().Perm() == mode.Perm() {
		return false, nil
	}
	if err := os.Chmod(path, mode.Perm()); err != nil {
		return false, fmt.Errorf("cannot change the mode of %s: %w", path, cause(err))
	}
	return true, nil
}

// Install does [WriteIfChanged], and first makes the missing directories of path, which everyone may read.
func Install(path string, data []byte, mode fs.FileMode) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("cannot write %s: %w", path, err)
	}
	return WriteIfChanged(path, data, mode)
}

// Remove removes those of the files that exist, and the temporary files of killed writers. No other process may be
// writing the files.
func Remove(paths ...string) (all error) {
	for _, path := range paths {
		dir, base := filepath.Split(path)
		left, _ := filepath.Glob(filepath.Join(dir, temporary(base))) // as in sweep
		for _, file := range append(left, path) {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				all = errors.Join(all, err)
			}
		}
	}
	return all
}

func holds(path string, data []byte) bool {
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, data)
}

func write(path string, data []byte, mode fs.FileMode) error {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	// CreateTemp uses mode 0600, so no other user can ever read the file.
	f, err := os.CreateTemp(dir, temporary(base))
	if err != nil {
		return cause(err)
	}
	defer os.Remove(f.Name()) // fails if the file was renamed
	sweep(f, filepath.Join(dir, temporary(base)))
	if err := fill(f, data, mode); err != nil {
		return cause(err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return cause(err)
	}
	if err := SyncDir(dir); err != nil {
		return fmt.Errorf("the new file is there, but its directory can't be synced: %w", cause(err))
	}
	return nil
}

// temporary returns the pattern for the names of temporary files. The dot hides them from programs that read all files
// of a directory.
func temporary(base string) string { return "." + base + ".new-*" }

// fill writes f's mode and content to the disk, and closes it.
func fill(f *os.File, data []byte, mode fs.FileMode) error {
	err := f.Chmod(mode.Perm())
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// sweep removes the files of killed writers. It compares ages with the file that was just made, so it uses the file
// system's own clock.
func sweep(f *os.File, pattern string) {
	made, err := f.Stat()
	if err != nil {
		return
	}
	others, _ := filepath.Glob(pattern) // an invalid pattern only means that old files stay
	for _, other := range others {
		if info, err := os.Lstat(other); err == nil && made.ModTime().Sub(info.ModTime()) > abandoned {
			_ = os.Remove(other)
		}
	}
}

// SyncDir makes the names in a directory survive a power failure.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// cause removes the names of temporary files from an error.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}
