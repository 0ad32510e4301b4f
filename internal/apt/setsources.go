package apt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// keyServer is the server for keys that are given by ID. It is the server that Ubuntu's add-apt-repository uses.
const keyServer = "https://keyserver.ubuntu.com/pks/lookup"

const keyTimeout = time.Minute

// Folders of apt's configuration. A key in keysDir is trusted only for sources that name it (signed-by in
// sources.list(5)).
const (
	sourcesDir = "sources.list.d"
	keysDir    = "keyrings"
	trustedDir = "trusted.gpg.d"
)

type sourceFile struct {
	dir, name string
	data      []byte
	mode      fs.FileMode
}

func (f sourceFile) path() string { return filepath.Join(f.dir, f.name) }

// SetSources adds these sources to the machine's own, and fetches their lists. It removes the files that it wrote for
// earlier sources; packages from those stay installed. If it can't fetch the lists, it returns an error and leaves
// the machine's sources unchanged: apt tries the new sources in a temporary folder first.
func (p Packages) SetSources(ctx context.Context, sources ...Source) error {
	ledger, err := p.readLedger()
	if err != nil {
		return err
	}
	var files []sourceFile
	var kept, added []string // files of personal archives
	undo := func() error { return p.removeFiles(added) }
	for _, s := range sources {
		of, archive, err := p.prepare(ctx, s)
		added = append(added, archive...)
		if err != nil {
			err = fmt.Errorf("cannot add the package source %s: %w", run.Redact(s.Line+s.Repository), err)
			return errors.Join(err, undo())
		}
		files = append(files, of...)
		all := union(ledger.Archives[s.Repository], archive)
		kept = append(kept, all...)
		if len(archive) > 0 {
			ledger.Archives[s.Repository] = all
		}
	}
	files = slices.DeleteFunc(files, func(f sourceFile) bool { return p.othersHave(ledger, f) })
	if err := p.tryOut(ctx, ledger, files, kept); err != nil {
		return errors.Join(err, undo())
	}
	return p.putInPlace(ledger, files, kept)
}

// prepare installs what a source needs, and returns its files. For a personal archive, add-apt-repository has already
// written these files, and archive has their names.
func (p Packages) prepare(ctx context.Context, s Source) (files []sourceFile, archive []string, err error) {
	if s.Keyring != "" {
		if err := p.apt(ctx, "install", s.Keyring); err != nil {
			return nil, nil, err
		}
	}
	if s.Repository != "" {
		archive, err = p.addRepository(ctx, s.Repository)
		return nil, archive, err
	}
	files, err = p.sourceFiles(ctx, s, filepath.Join(p.Paths.Apt(), keysDir))
	return files, nil, err
}

// sourceFiles returns the file with the source's line and, if the source has a key, the file of the key. In the line,
// the key is in the folder keys. A key that was fetched by its ID is not fetched again.
func (p Packages) sourceFiles(ctx context.Context, s Source, keys string) (files []sourceFile, err error) {
	if s.File == "" {
		return nil, nil
	}
	line, name := s.Line, strings.TrimSuffix(s.File, ".list")+".asc"
	key := sourceFile{dir: keysDir, name: name, data: []byte(s.Key), mode: 0o644}
	if s.KeyID != "" {
		key.name = ownPrefix + strings.ToUpper(s.KeyID) + ".asc"
		have, err := os.ReadFile(filepath.Join(p.Paths.Apt(), key.path()))
		if err != nil || checkKey(string(have), s.KeyID) != nil {
			if have, err = p.fetchKey(ctx, s.KeyID); err != nil {
				return nil, err
			}
		}
		key.data = have
	}
	if len(key.data) > 0 {
		line = signedBy(line, filepath.Join(keys, key.name))
		files = append(files, key)
	}
	mode := fs.FileMode(0o644)
	if run.HasLogin(line) {
		mode = 0o600
	}
	return append(files, sourceFile{dir: sourcesDir, name: s.File, data: []byte(line + "\n"), mode: mode}), nil
}

// signedBy adds the option signed-by, with the file of a key, to a line of sources.list.
func signedBy(line, key string) string {
	option := "signed-by=" + key
	if rest, has := strings.CutPrefix(line, "deb ["); has {
		return "deb [" + option + " " + strings.TrimLeft(rest, " ")
	}
	return "deb [" + option + "] " + strings.TrimPrefix(line, "deb ")
}

// addRepository lets Ubuntu's add-apt-repository find the address and the key of a personal archive, and returns
// the files that it made.
func (p Packages) addRepository(ctx context.Context, repository string) (made []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, aptTimeout)
	defer cancel()
	if err := p.apt(ctx, "install", "software-properties-common"); err != nil {
		return nil, err
	}
	before := p.aptFiles()
	err = p.unlocked(ctx, []string{"add-apt-repository", "--yes", "--no-update", repository})
	return slices.DeleteFunc(p.aptFiles(), func(path string) bool { return slices.Contains(before, path) }), err
}

// aptFiles returns all files with sources or keys, below apt's configuration.
func (p Packages) aptFiles() (all []string) {
	for _, dir := range []string{sourcesDir, keysDir, trustedDir} {
		entries, _ := os.ReadDir(filepath.Join(p.Paths.Apt(), dir)) // a missing folder has no files
		for _, e := range entries {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}

// fetchKey fetches the key with this ID from the key server. It refuses a key with another ID.
func (p Packages) fetchKey(ctx context.Context, id string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	query := url.Values{"op": {"get"}, "options": {"mr"}, "exact": {"on"}, "search": {"0x" + id}}
	args := []string{"--fail", "--silent", "--show-error", keyServer + "?" + query.Encode()}
	out, err := p.Runner.Run(ctx, run.Command{Name: "curl", Args: args, Env: p.proxies()})
	if err != nil {
		return nil, fmt.Errorf("cannot fetch the key %s: %w", id, err)
	}
	const instead = "put the whole key behind | instead"
	if !isArmoured(string(out)) {
		return nil, fmt.Errorf("cannot fetch the key %s: the key server's answer is not a key; %s", id, instead)
	}
	if err := checkKey(string(out), id); err != nil {
		return nil, fmt.Errorf("cannot use what the key server has sent for the key %s: %w; %s", id, err, instead)
	}
	return []byte(strings.TrimSpace(string(out)) + "\n"), nil
}

// tryOut fetches the lists of the machine's future sources, which are in a temporary folder. The keys must be in their
// final places.
func (p Packages) tryOut(ctx context.Context, l ledger, files []sourceFile, kept []string) (err error) {
	dir, err := os.MkdirTemp("", "ovn-central-sources-")
	if err != nil {
		return fmt.Errorf("cannot try the package sources: %w", err)
	}
	defer os.RemoveAll(dir)
	var made []string
	defer func() {
		if err != nil {
			err = errors.Join(err, p.removeFiles(made))
		}
	}()
	for _, f := range files {
		path := filepath.Join(p.Paths.Apt(), f.path())
		if _, missing := os.Lstat(path); f.dir == keysDir && missing != nil {
			made = append(made, f.path())
			if err := writeFiles(p.Paths.Apt(), []sourceFile{f}); err != nil {
				return err
			}
		}
	}
	if err := p.layOutSources(dir, l.without(files, kept), files); err != nil {
		return fmt.Errorf("cannot try the package sources: %w", err)
	}
	return p.update(ctx, "--option", "Dir::Etc::SourceParts="+filepath.Join(dir, sourcesDir), "--option",
		"APT::Update::Error-Mode=any")
}

// layOutSources links the machine's sources into a folder below dir, except those in leftOut, and writes files there.
func (p Packages) layOutSources(dir string, leftOut []string, files []sourceFile) error {
	if err := os.MkdirAll(filepath.Join(dir, sourcesDir), 0o700); err != nil {
		return err
	}
	there, err := filepath.Glob(filepath.Join(p.Paths.Apt(), sourcesDir, "*"))
	if err != nil {
		return err
	}
	for _, file := range there {
		path := filepath.Join(sourcesDir, filepath.Base(file))
		if slices.Contains(leftOut, path) || slices.ContainsFunc(files, func(f sourceFile) bool { return f.path() == path }) {
			continue
		}
		if err := os.Symlink(file, filepath.Join(dir, path)); err != nil {
			return err
		}
	}
	return writeFiles(dir, files)
}

// putInPlace installs the sources that were tried. The ledger lists a file from before it is written until after it
// is removed, so the next call completes a call that was killed.
func (p Packages) putInPlace(l ledger, files []sourceFile, kept []string) error {
	gone := l.without(files, kept)
	for _, f := range files {
		l.note(f.path(), f.data)
	}
	for _, path := range kept {
		if data, err := os.ReadFile(filepath.Join(p.Paths.Apt(), path)); err == nil && l.Files[path] == nil {
			l.note(path, data)
		}
	}
	if err := p.writeLedger(l); err != nil {
		return err
	}
	if err := writeFiles(p.Paths.Apt(), files); err != nil {
		return err
	}
	return p.drop(l, gone)
}

func writeFiles(dir string, files []sourceFile) error {
	for _, f := range files {
		if _, err := atomicfile.Install(filepath.Join(dir, f.path()), f.data, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// RemoveSources removes the files that [Packages.SetSources] has written, with their keys and passwords. Fetched
// lists stay until apt fetches lists again.
func (p Packages) RemoveSources() error {
	l, err := p.readLedger()
	if err != nil {
		return err
	}
	return p.drop(l, l.paths())
}
