package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"slices"
)

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
