package machines

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// NewerPackages is where machines have [Options.Newer], as a repository for apt.
const NewerPackages = "/srv/newer"

// makeNewer is the program that makes it. It is made again when the program changes,
// and kept for all runs after that.
//
//go:embed make-newer
var makeNewer []byte

// newerOf returns the directory with OVN's packages of a newer suite below dir, and
// makes it where it is missing.
func newerOf(ctx context.Context, dir, suite string, log io.Writer) (string, error) {
	packages := kept(dir, "newer-"+suite, makeNewer)
	if _, err := os.Stat(packages); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return packages, err
	}
	fmt.Fprintf(log, "making OVN's packages of Debian %s for older machines; they are kept in %s\n", suite, packages)
	return packages, keep(ctx, dir, "newer-"+suite, makeNewer, suite)
}
