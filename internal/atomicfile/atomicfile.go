// Package atomicfile puts a whole new file in the place of an old one, or leaves
// the old one as it was: a reader finds one of the two and never a part of either,
// at whatever moment the writer is killed or the disk is full.
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

// abandoned is the age, next to a file that is being written, at which another
// temporary file of the same target can only be of a writer that was killed. A
// write takes milliseconds; the file may hold a key.
const abandoned = time.Hour

// Write replaces the file at path by one that holds data and has exactly the
// permissions of mode, whatever the umask. The directory has to be there. When it
// returns without an error, a loss of power doesn't bring the old file back. An
// error wraps the cause ([fs.ErrNotExist], syscall.ENOSPC, ...), names path, and
// means that the file is as it was; except where it says that the directory can't
// be synced: then the new file is there, and a loss of power may undo it.
func Write(path string, data []byte, mode fs.FileMode) error {
	if err := write(path, data, mode); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// WriteIfChanged does as [Write] where the file isn't there yet or holds something
// else, and repairs the permissions where only these differ. changed says
// whether it did either; it means nothing beside an error.
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

// Remove removes the file, if it is there, and what writers that were killed have left of it
// under other names. No other process may be writing it.
func Remove(path string) error {
	dir, base := filepath.Split(path)
	left, _ := filepath.Glob(filepath.Join(dir, temporary(base))) // as in sweep
	var all error
	for _, file := range append(left, path) {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// holds says whether the file is known to hold just data.
func holds(path string, data []byte) bool {
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, data)
}

func write(path string, data []byte, mode fs.FileMode) error {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	// Opened as 0600, so no other user can look into it at any time.
	f, err := os.CreateTemp(dir, temporary(base))
	if err != nil {
		return cause(err)
	}
	defer os.Remove(f.Name()) // gone already if all went well
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

// temporary is the pattern of the names of files that are being written. The dot
// keeps them from programs that read all files of a directory.
func temporary(base string) string { return "." + base + ".new-*" }

// fill gives f its mode and content, both on disk, and closes it.
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

// sweep removes what killed writers have left. Ages are measured by the file
// system's own clock, at the file that has just been made in it.
func sweep(f *os.File, pattern string) {
	made, err := f.Stat()
	if err != nil {
		return
	}
	others, _ := filepath.Glob(pattern) // a name that breaks the pattern isn't swept: a loss of tidiness only
	for _, other := range others {
		if info, err := os.Lstat(other); err == nil && made.ModTime().Sub(info.ModTime()) > abandoned {
			_ = os.Remove(other)
		}
	}
}

// SyncDir has the names in a directory stay as they are whatever happens to the machine.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// cause leaves out the names of temporary files, which tell nothing.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}
