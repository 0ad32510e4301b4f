package machines

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// makeRoot is the program that makes a root. A root is made anew when the program
// changes, and kept for all runs after that.
//
//go:embed make-root
var makeRoot []byte

// rootTimeout bounds the making of a root, most of which is a download.
const rootTimeout = 15 * time.Minute

// rootOf returns the root of a Debian suite below dir, and makes it where it is
// missing.
func rootOf(ctx context.Context, dir, suite string, log io.Writer) (string, error) {
	sum := sha256.Sum256(makeRoot)
	root := filepath.Join(dir, suite+"-"+hex.EncodeToString(sum[:4]))
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	others, err := filepath.Glob(filepath.Join(dir, suite+"-*"))
	if err != nil {
		return "", fmt.Errorf("cannot look for older roots: %w", err)
	}
	for _, old := range others {
		if err := os.RemoveAll(old); err != nil {
			return "", fmt.Errorf("cannot remove an older root: %w", err)
		}
	}
	fmt.Fprintf(log, "making a root of Debian %s; it is kept in %s\n", suite, root)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot make a root: %w", err)
	}
	program := filepath.Join(dir, "make-root")
	if err := os.WriteFile(program, makeRoot, 0o755); err != nil { //nolint:gosec // it is executed
		return "", fmt.Errorf("cannot make a root: %w", err)
	}
	defer os.Remove(program)
	ctx, cancel := context.WithTimeout(ctx, rootTimeout)
	defer cancel()
	if _, err := run(ctx, program, suite, root); err != nil {
		return "", err
	}
	return root, nil
}
