package apt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// ledgerFile says, in apt's configuration, which files there are the charm's. It is not part of
// what a unit remembers: the next unit on the machine removes them too.
const ledgerFile = "ovn-central-operator.json"

// ownPrefix begins the names that no other program gives its files.
const ownPrefix = "ovn-central-"

// ledger is what the charm has written into apt's configuration; all paths are below that.
type ledger struct {
	// Files has digests of what was written, by path. What another program has written there since
	// is that one's.
	Files map[string][]string `json:"files"`
	// Archives are the files of each personal archive, by its name.
	Archives map[string][]string `json:"archives,omitempty"`
}

func (p Packages) ledgerPath() string { return filepath.Join(p.Paths.Apt(), ledgerFile) }

func (p Packages) readLedger() (l ledger, err error) {
	l = ledger{Files: map[string][]string{}, Archives: map[string][]string{}}
	text, err := os.ReadFile(p.ledgerPath())
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return l, fmt.Errorf("cannot read which package sources are the charm's in %s: %w", p.ledgerPath(), err)
	}
	if l.Files == nil {
		l.Files = map[string][]string{}
	}
	if l.Archives == nil {
		l.Archives = map[string][]string{}
	}
	maps.DeleteFunc(l.Files, func(path string, _ []string) bool { return !filepath.IsLocal(path) })
	return l, nil
}

// writeLedger writes the ledger's file, or removes it if the ledger is empty.
func (p Packages) writeLedger(l ledger) error {
	if len(l.Files) == 0 {
		return p.removeFiles([]string{ledgerFile})
	}
	text, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return err
	}
	_, err = atomicfile.WriteIfChanged(p.ledgerPath(), append(text, '\n'), 0o644)
	return err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// note adds a file, before it is written.
func (l ledger) note(path string, data []byte) {
	if sum := digestOf(data); !slices.Contains(l.Files[path], sum) {
		l.Files[path] = append(l.Files[path], sum)
	}
}

func (l ledger) addArchive(name string, files []string) {
	l.Archives[name] = union(l.Archives[name], files)
}

func (l ledger) paths() []string { return slices.Sorted(maps.Keys(l.Files)) }

// without are the paths that are neither of these files nor kept.
func (l ledger) without(files []sourceFile, kept []string) []string {
	return slices.DeleteFunc(l.paths(), func(path string) bool {
		return slices.Contains(kept, path) || slices.ContainsFunc(files, func(f sourceFile) bool { return f.path() == path })
	})
}

// drop removes files that are still as the charm wrote them, and forgets them all.
func (p Packages) drop(l ledger, paths []string) error {
	var own []string
	for _, path := range paths {
		data, err := os.ReadFile(filepath.Join(p.Paths.Apt(), path))
		if strings.HasPrefix(filepath.Base(path), ownPrefix) || err == nil && slices.Contains(l.Files[path], digestOf(data)) {
			own = append(own, path)
		}
	}
	if err := p.removeFiles(own); err != nil {
		return err
	}
	for _, path := range paths {
		delete(l.Files, path)
	}
	for name, files := range l.Archives {
		if !slices.ContainsFunc(files, func(path string) bool { return l.Files[path] != nil }) {
			delete(l.Archives, name)
		}
	}
	return p.writeLedger(l)
}

// removeFiles removes files below apt's configuration, whether or not they are there.
func (p Packages) removeFiles(paths []string) (err error) {
	for _, path := range paths {
		err = errors.Join(err, atomicfile.Remove(filepath.Join(p.Paths.Apt(), path)))
	}
	return err
}

// othersHave reports whether a file of the same name that another charm or a person has written already
// has the source. That file isn't changed, so that the source stays when this charm no longer needs it.
func (p Packages) othersHave(l ledger, f sourceFile) bool {
	if l.Files[f.path()] != nil || strings.HasPrefix(f.name, ownPrefix) {
		return false
	}
	text, err := os.ReadFile(filepath.Join(p.Paths.Apt(), f.path()))
	return err == nil && slices.Contains(strings.Split(string(text), "\n"), strings.TrimSpace(string(f.data)))
}

// union has each of the paths once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
