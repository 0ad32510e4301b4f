package apt

import (
	"crypto/sha256"
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

// ledgerFile lists the charm's files in apt's configuration. It is kept there, not in a unit's state, for the next
// unit on the machine.
const ledgerFile = "ovn-central-operator.json"

// ownPrefix begins the names of the charm's files. No other program uses this prefix.
const ownPrefix = "ovn-central-"

type ledger struct {
	// Files has the digests of each written file, by path. A file with another digest now belongs to another program.
	Files map[string][]string `json:"files"`
	// Archives has the files of each personal archive, by its name.
	Archives map[string][]string `json:"archives,omitempty"`
}

func (p Packages) ledgerPath() string { return filepath.Join(p.Paths.Apt(), ledgerFile) }

func (p Packages) readLedger() (l ledger, err error) {
	text, err := os.ReadFile(p.ledgerPath())
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
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

func digestOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func (l ledger) note(path string, data []byte) {
	if sum := digestOf(data); !slices.Contains(l.Files[path], sum) {
		l.Files[path] = append(l.Files[path], sum)
	}
}

func (l ledger) paths() []string { return slices.Sorted(maps.Keys(l.Files)) }

// without returns the paths that are in neither files nor kept.
func (l ledger) without(files []sourceFile, kept []string) []string {
	return slices.DeleteFunc(l.paths(), func(path string) bool {
		return slices.Contains(kept, path) || slices.ContainsFunc(files, func(f sourceFile) bool { return f.path() == path })
	})
}

// drop removes the files that are unchanged since the charm wrote them, and drops all paths from the ledger.
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

func (p Packages) removeFiles(paths []string) (err error) {
	for _, path := range paths {
		err = errors.Join(err, atomicfile.Remove(filepath.Join(p.Paths.Apt(), path)))
	}
	return err
}

// othersHave reports whether another charm or a person has already written a file of the same name with this source.
// The charm doesn't change such a file, and leaves it in place when it no longer needs the source.
func (p Packages) othersHave(l ledger, f sourceFile) bool {
	if l.Files[f.path()] != nil || strings.HasPrefix(f.name, ownPrefix) {
		return false
	}
	text, err := os.ReadFile(filepath.Join(p.Paths.Apt(), f.path()))
	return err == nil && slices.Contains(strings.Split(string(text), "\n"), strings.TrimSpace(string(f.data)))
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
