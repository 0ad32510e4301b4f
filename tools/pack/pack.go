package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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

// writeZip writes entries as Juju's own packer does, sorted and without times. That packer (charm.CharmDir.ArchiveTo)
// takes the version from the git checkout around the directory, so it is not used.
func writeZip(w io.Writer, entries []entry) error {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b entry) int {
		return cmp.Compare(a.name, b.name)
	})
	z := zip.NewWriter(w)
	for _, e := range sorted {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode&fs.ModeSymlink != 0 {
			header.Method = zip.Store
		}
		header.SetMode(e.mode)
		file, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := io.Copy(file, bytes.NewReader(e.data)); err != nil {
			return err
		}
	}
	return z.Close()
}
