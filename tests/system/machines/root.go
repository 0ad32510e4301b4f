package machines

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// makeRoot makes a root of a Debian suite.
//
//go:embed make-root
var makeRoot []byte

// NewerPackages is the directory of a machine with [Options.Newer], as a repository for apt.
const NewerPackages = "/srv/newer"

// makeNewer makes that repository.
//
//go:embed make-newer
var makeNewer []byte

// makeTimeout bounds one of these programs, which mostly download.
const makeTimeout = 15 * time.Minute

// kept returns the directory below dir with a program's output for a suite. All runs share it. It is made if it is
// missing or the program has changed.
func kept(ctx context.Context, dir, name string, program []byte, suite string, log io.Writer) (string, error) {
	sum := sha256.Sum256(program)
	target := filepath.Join(dir, name+"-"+hex.EncodeToString(sum[:4]))
	if _, err := os.Stat(target); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return target, err
	}
	fmt.Fprintf(log, "making %s\n", target)
	others, err := filepath.Glob(filepath.Join(dir, name+"-*"))
	for _, old := range others {
		err = errors.Join(err, os.RemoveAll(old))
	}
	file := filepath.Join(dir, "make-"+name)
	err = errors.Join(err, os.MkdirAll(dir, 0o755))
	if err = errors.Join(err, os.WriteFile(file, program, 0o755)); err != nil { //nolint:gosec // it is executed
		return "", fmt.Errorf("cannot make %s: %w", target, err)
	}
	defer os.Remove(file)
	ctx, cancel := context.WithTimeout(ctx, makeTimeout)
	defer cancel()
	_, err = run(ctx, file, suite, target)
	return target, err
}
