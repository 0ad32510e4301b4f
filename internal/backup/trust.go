package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links a path may lead through, as Linux permits (path_resolution(7)).
const maxLinks = 40

// trusted returns the directory that the path names, without symbolic links, if no other user than root
// can change what it names: each component belongs to root, and no other user may write to it; a folder
// above it may be one in which each user may delete its own files only, such as /tmp. What does not
// exist yet counts as such.
//
// A link is followed where it stands in such a folder, and is root's.
func trusted(path string) (string, error) {
	path = filepath.Clean(path)
	owners, err := rootOwners()
	if err != nil {
		return "", err
	}
	done, links := "/", 0
	rest := split(path)
	for i := 0; ; {
		info, err := os.Lstat(done)
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(append([]string{done}, rest[i:]...)...), nil
		}
		if err != nil {
			return "", err
		}
		last := i == len(rest)
		if err := mayBeChanged(done, info, owners, last); err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(done)
			if err != nil {
				return "", err
			}
			if links++; links > maxLinks {
				return "", fmt.Errorf("%s: %w", path, syscall.ELOOP)
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(done), target)
			}
			rest, i, done = append(split(target), rest[i:]...), 0, "/"
			continue
		}
		if last {
			return done, nil
		}
		done = filepath.Join(done, rest[i])
		i++
	}
}

// split are the components of an absolute path.
func split(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == filepath.Separator })
}

// rootOwners are the users that can change every file here: root; the owner of /, which in a user namespace
// is root under another number; and the user that this process runs as.
func rootOwners() (map[uint32]bool, error) {
	var root syscall.Stat_t
	if err := syscall.Stat("/", &root); err != nil {
		return nil, err
	}
	return map[uint32]bool{0: true, root.Uid: true, uint32(os.Geteuid()): true}, nil //nolint:gosec // an ID of a user
}

// mayBeChanged says why other users can change what the path names; last is that it is the directory itself.
func mayBeChanged(path string, info fs.FileInfo, owners map[uint32]bool, last bool) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	const others = 0o022
	switch {
	case !ok:
		return fmt.Errorf("cannot tell the owner of %s", path)
	case !owners[stat.Uid]:
		return fmt.Errorf("%s belongs to user %d, which could replace what root writes there; use a folder of root's: chown root %s", path, stat.Uid, path)
	case info.Mode()&fs.ModeSymlink != 0: // its own permissions mean nothing
		return nil
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", path)
	case info.Mode().Perm()&others != 0 && last && info.Mode()&fs.ModeSticky != 0:
		return fmt.Errorf("other users may write to %s; use a new folder in it", path)
	case info.Mode().Perm()&others != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("other users may write to %s, and could replace what root writes there; use a folder of root's, or: chmod go-w %s", path, path)
	}
	return nil
}

// openRegular opens a regular file to read it, and nothing that a name can be besides: it follows no link,
// and does not wait for the writer of a pipe.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a link", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// readRegular reads a regular file of no more than so many bytes.
func readRegular(path string, most int64) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}
