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

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// maxLinks is the largest number of symbolic links in a path, as in Linux (path_resolution(7)).
const maxLinks = 40

// trusted returns the directory of the path, without symbolic links, if no user but root can replace it. Each
// component must belong to root and must not be writable for others, except for parents in which each user may delete
// only its own files, such as /tmp. There, a link is followed if it belongs to root. Missing components count as
// trusted.
func trusted(path string) (string, error) {
	owners, err := rootOwners()
	if err != nil {
		return "", err
	}
	done, rest := "/", split(path)
	for links := 0; links <= maxLinks; {
		info, err := os.Lstat(done)
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(done, filepath.Join(rest...)), nil
		}
		if err == nil {
			err = mayBeChanged(done, info, owners, len(rest) == 0)
		}
		if err != nil {
			return "", err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := readLink(done)
			if err != nil {
				return "", err
			}
			links++
			done, rest = "/", append(split(target), rest...)
		case len(rest) == 0:
			return done, nil
		default:
			done, rest = filepath.Join(done, rest[0]), rest[1:]
		}
	}
	return "", fmt.Errorf("%s: %w", path, syscall.ELOOP)
}

// readLink returns the absolute target of a link.
func readLink(path string) (string, error) {
	target, err := os.Readlink(path)
	if err == nil && !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return target, err
}

func split(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == filepath.Separator })
}

// rootOwners returns the users that can change every file here: root; the owner of /, which is root under another
// number in a user namespace; and the user of this process.
func rootOwners() (map[uint32]bool, error) {
	var root syscall.Stat_t
	if err := syscall.Stat("/", &root); err != nil {
		return nil, err
	}
	return map[uint32]bool{0: true, root.Uid: true, uint32(os.Geteuid()): true}, nil //nolint:gosec // an ID of a user
}

// mayBeChanged returns an error if other users can replace the path's target. last is true for the directory itself.
func mayBeChanged(path string, info fs.FileInfo, owners map[uint32]bool, last bool) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	const others = 0o022
	switch {
	case !ok:
		return fmt.Errorf("cannot tell the owner of %s", path)
	case !owners[stat.Uid]:
		return finding.Reason{Code: finding.OwnedByOther, Value: path, Count: int(stat.Uid)}.Err()
	case info.Mode()&fs.ModeSymlink != 0: // a link's permissions have no effect
		return nil
	case !info.IsDir():
		return finding.Reason{Code: finding.NotFolder, Value: path}.Err()
	case info.Mode().Perm()&others != 0 && last && info.Mode()&fs.ModeSticky != 0:
		return finding.Reason{Code: finding.OthersMayWrite, Value: path}.Err()
	case info.Mode().Perm()&others != 0 && info.Mode()&fs.ModeSticky == 0:
		return finding.Reason{Code: finding.OthersMayReplace, Value: path}.Err()
	}
	return nil
}

// openRegular opens a regular file for reading. It follows no link, and does not wait for the writer of a pipe.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, finding.Reason{Code: finding.IsLink, Value: path}.Err()
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = finding.Reason{Code: finding.NotRegular, Value: path}.Err()
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func readRegular(path string, most int64) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the file is only read
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = finding.Reason{Code: finding.FileTooLarge, Value: path, Count: int(most)}.Err()
	}
	return text, err
}
