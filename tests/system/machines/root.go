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

// makeRoot is the program that makes a root. A root is made again when the program
// changes, and kept for all runs after that.
//
//go:embed make-root
var makeRoot []byte

// rootTimeout bounds the creation of a root, most of which is a download.
const rootTimeout = 15 * time.Minute

// rootOf returns the root of a Debian suite below dir, and makes it if it is missing.
func rootOf(ctx context.Context, dir, suite string, log io.Writer) (string, error) {
	root := kept(dir, suite, makeRoot)
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	fmt.Fprintf(log, "making a root of Debian %s; it is kept in %s\n", suite, root)
	return root, keep(ctx, dir, suite, makeRoot, suite)
}

// kept is the directory below dir for what this version of a program makes.
func kept(dir, name string, program []byte) string {
	sum := sha256.Sum256(program)
	return filepath.Join(dir, name+"-"+hex.EncodeToString(sum[:4]))
}

// keep makes a program's output for a suite, and replaces that of older programs.
func keep(ctx context.Context, dir, name string, program []byte, suite string) error {
	others, err := filepath.Glob(filepath.Join(dir, name+"-*"))
	if err != nil {
		return fmt.Errorf("cannot look for what is kept of %s: %w", name, err)
	}
	for _, old := range others {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("cannot remove what was kept of %s: %w", name, err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make %s: %w", name, err)
	}
	file := filepath.Join(dir, "make-"+name)
	if err := os.WriteFile(file, program, 0o755); err != nil { //nolint:gosec // it is executed
		return fmt.Errorf("cannot make %s: %w", name, err)
	}
	defer os.Remove(file)
	ctx, cancel := context.WithTimeout(ctx, rootTimeout)
	defer cancel()
	_, err = run(ctx, file, suite, kept(dir, name, program))
	return err
}

// NewerPackages is where machines have [Options.Newer], as a repository for apt.
const NewerPackages = "/srv/newer"

// makeNewer is the program that makes it. It is made again when the program changes, and kept for all runs after that.
//
//go:embed make-newer
var makeNewer []byte

// newerOf returns the directory with OVN's packages of a newer suite below dir, and makes it if it is missing.
func newerOf(ctx context.Context, dir, suite string, log io.Writer) (string, error) {
	packages := kept(dir, "newer-"+suite, makeNewer)
	if _, err := os.Stat(packages); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return packages, err
	}
	fmt.Fprintf(log, "making OVN's packages of Debian %s for older machines; they are kept in %s\n", suite, packages)
	return packages, keep(ctx, dir, "newer-"+suite, makeNewer, suite)
}
