package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/juju/charm/v12"
)

// options are what to pack. All fields are required.
type options struct {
	root     string // directory that holds metadata.yaml
	dispatch string // path of the binary
	arch     string // a key of archs
	version  string // one line
	out      string // path of the charm file
}

// pack writes the charm file and returns its SHA-256 in hex. The file appears complete or not at all, and only after
// Juju's own code has accepted it.
func pack(o options) (sum string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot pack %s: %w", o.out, err)
		}
	}()

	entries, err := collect(o)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(filepath.Dir(o.out), ".pack-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())

	hash := sha256.New()
	err = errors.Join(
		writeZip(io.MultiWriter(tmp, hash), entries),
		tmp.Chmod(0o644),
		tmp.Sync(),
		tmp.Close(),
	)
	if err != nil {
		return "", err
	}
	if err := accepted(tmp.Name()); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), os.Rename(tmp.Name(), o.out)
}

// accepted reads the charm file as Juju does when it is deployed.
func accepted(path string) error {
	archive, err := charm.ReadCharmArchive(path)
	if err != nil {
		return fmt.Errorf("cannot read it back: %w", err)
	}
	return charm.CheckMeta(archive)
}
