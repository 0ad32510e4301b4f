package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/juju/charm/v12"
)

// dispatchLink is the target of every link in hooks/: the binary.
const dispatchLink = "../dispatch"

// plain are the files that go into the charm unchanged. Juju reads the YAML files; the others are for people and for
// Charmhub.
var plain = []string{
	"actions.yaml", "config.yaml", "lxd-profile.yaml", "metadata.yaml", "LICENSE", "README.md",
	"docs/how-to/recover-quorum.md", "icon.svg",
}

// entry is one file of the charm.
type entry struct {
	name string      // with slashes, from the charm's root
	mode fs.FileMode // 0644, 0755 or a symbolic link
	data []byte      // of a symbolic link: its target
}

// collect reads everything that goes into the charm.
func collect(o options) ([]entry, error) {
	if o.version == "" || strings.ContainsAny(o.version, "\r\n") {
		return nil, fmt.Errorf("version %q is not one line", o.version)
	}
	target, err := lookupArch(o.arch)
	if err != nil {
		return nil, err
	}
	dispatch, err := os.ReadFile(o.dispatch)
	if err != nil {
		return nil, err
	}
	if err := target.check(dispatch); err != nil {
		return nil, fmt.Errorf("cannot use %s as dispatch: %w", o.dispatch, err)
	}
	manifest, err := manifestFor(filepath.Join(o.root, "manifest.yaml"), target)
	if err != nil {
		return nil, err
	}
	entries := []entry{
		{name: "dispatch", mode: 0o755, data: dispatch},
		{name: "manifest.yaml", mode: 0o644, data: manifest},
		{name: "version", mode: 0o644, data: []byte(o.version + "\n")},
	}
	for _, name := range plain {
		data, err := os.ReadFile(filepath.Join(o.root, name))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: name, mode: 0o644, data: data})
	}
	hooks, err := hookLinks(o.root)
	return append(entries, hooks...), err
}

func hookLinks(root string) ([]entry, error) {
	dir := filepath.Join(root, "hooks")
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, f := range files {
		link, err := os.Readlink(filepath.Join(dir, f.Name()))
		if err != nil || link != dispatchLink {
			return nil, fmt.Errorf("hooks/%s is not a symbolic link to %s", f.Name(), dispatchLink)
		}
		entries = append(entries, entry{
			name: "hooks/" + f.Name(),
			mode: fs.ModeSymlink | 0o777,
			data: []byte(link),
		})
	}
	return entries, nil
}

// manifestFor returns the manifest in path with target as the only architecture.
func manifestFor(path string, target arch) ([]byte, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	manifest, err := charm.ReadManifest(bytes.NewReader(source))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	var out bytes.Buffer
	out.WriteString("bases:\n")
	for _, base := range manifest.Bases {
		if !slices.Contains(base.Architectures, target.juju) {
			return nil, fmt.Errorf("%s: base %s is not for %s", path, base, target.juju)
		}
		fmt.Fprintf(&out, "  - name: %s\n    channel: %q\n    architectures: [%s]\n",
			base.Name, base.Channel.String(), target.juju)
	}
	return out.Bytes(), nil
}
