package apt

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DpkgAdmin is where dpkg keeps what it knows, unless its variable DPKG_ADMINDIR says otherwise (dpkg(1)).
const DpkgAdmin = "/var/lib/dpkg"

// dpkgStatus reads, from dpkg's own files, what dpkg-query would show of packages: the name, the status and the version
// of each that dpkg knows. Changes that dpkg has not merged yet are in files of updates, which are numbered
// (modstatdb_open() in lib/dpkg/dbmodify.c of dpkg).
func dpkgStatus(admin string, names ...string) (lines [][]string, err error) {
	text, err := os.ReadFile(filepath.Join(admin, "status"))
	if err != nil {
		return nil, err
	}
	parts := [][]byte{text}
	entries, err := os.ReadDir(filepath.Join(admin, "updates")) // sorted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if strings.Trim(entry.Name(), "0123456789") != "" {
			continue // one that is being written
		}
		text, err := os.ReadFile(filepath.Join(admin, "updates", entry.Name()))
		if err != nil {
			return nil, err
		}
		parts = append(parts, text)
	}
	slices.Reverse(parts) // what is newer counts
	for _, name := range names {
		for _, part := range parts {
			if status, version, found := dpkgEntry(part, name); found {
				lines = append(lines, []string{name, status, version})
				break
			}
		}
	}
	return lines, nil
}

// dpkgEntry finds a package in the form of deb-status(5): its status is the last word of the field.
func dpkgEntry(text []byte, name string) (status, version string, found bool) {
	mark := []byte("Package: " + name + "\n")
	begin := 0
	if !bytes.HasPrefix(text, mark) {
		if begin = bytes.Index(text, append([]byte("\n"), mark...)); begin < 0 {
			return "", "", false
		}
		begin++
	}
	entry, _, _ := bytes.Cut(text[begin:], []byte("\n\n"))
	for line := range strings.Lines(string(entry)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Status":
			words := strings.Fields(value)
			status = words[len(words)-1]
		case "Version":
			version = value
		}
	}
	return status, version, true
}
