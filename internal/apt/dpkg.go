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

// DpkgAdmin is dpkg's directory, unless its variable DPKG_ADMINDIR names another one (dpkg(1)).
const DpkgAdmin = "/var/lib/dpkg"

// dpkgStatus reads the name, status and version of packages from dpkg's own files, as dpkg-query shows them. Changes
// that dpkg has not merged yet are in numbered files in updates (modstatdb_open() in lib/dpkg/dbmodify.c of dpkg).
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
			continue // dpkg is writing it
		}
		text, err := os.ReadFile(filepath.Join(admin, "updates", entry.Name()))
		if err != nil {
			return nil, err
		}
		parts = append(parts, text)
	}
	slices.Reverse(parts) // the newest first
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

// dpkgEntry finds a package in a file of the form deb-status(5). The status is the last word of its field.
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
