// Package unitstate stores a unit's own state on its disk, beside the databases: an operator's requests, and facts
// that can't be observed. The state is one file, in which each owner has a section with a type of its own. Only the
// package that has the [Section] reads and writes it.
package unitstate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// ownerSection is the section of the [Owner].
const ownerSection = "owner"

// Owner is the unit to which the state belongs.
type Owner struct {
	Unit string `json:"unit,omitempty"`
	// Model is the UUID of the unit's model: the machine may have had another unit, which was removed by force.
	Model string `json:"model,omitempty"`
	// Installing reports whether the hook install has written the file. If install finds it false, the file belongs to
	// another unit of the same name.
	Installing bool `json:"installing,omitempty"`
}

// State is the stored state of a unit.
type State struct {
	path     string
	log      *slog.Logger
	sections map[string]json.RawMessage
}

// Section is the part of the state that belongs to one package.
type Section[T any] struct{ name string }

// NewSection returns the section with that name.
func NewSection[T any](name string) Section[T] { return Section[T]{name} }

// Open reads the file path. If it returns an error, the state is empty. It logs and drops an unreadable section.
func Open(path string, log *slog.Logger) (*State, error) {
	s := &State{path: path, log: log, sections: map[string]json.RawMessage{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s.sections)
	}
	if err != nil || s.sections == nil { // null is not an object
		s.sections = map[string]json.RawMessage{}
	}
	if err != nil {
		err = fmt.Errorf("cannot read %s: %w", path, err)
	}
	return s, err
}

// Owner returns the unit to which the state belongs.
func (s *State) Owner() Owner { return owner.Get(s) }

var owner = NewSection[Owner](ownerSection)

// Forget empties the state.
func (s *State) Forget() { clear(s.sections) }

// Get returns the content of the section; the zero value if there is none.
func (x Section[T]) Get(s *State) (kept T) {
	text, found := s.sections[x.name]
	if !found {
		return kept
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		s.log.Warn("cannot read what the unit has kept; continuing without it",
			"section", x.name, "path", s.path, "error", err)
		return *new(T)
	}
	return kept
}

// Set sets the content of the section; [State.Save] writes it to the disk. It fails if JSON can't encode the content.
func (x Section[T]) Set(s *State, kept T) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("cannot keep the section %s of %s: %w", x.name, s.path, err)
	}
	s.sections[x.name] = text
	return nil
}

// Save writes the state of a unit to the disk.
func (s *State) Save(whose Owner) error {
	if err := owner.Set(s, whose); err != nil {
		return err
	}
	all := maps.Clone(s.sections)
	maps.DeleteFunc(all, func(_ string, text json.RawMessage) bool { return string(text) == "{}" })
	text, err := json.MarshalIndent(all, "", " ")
	if err == nil {
		_, err = atomicfile.Install(s.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the unit's state: %w", err)
	}
	return nil
}

// Digest returns 16 hex digits that differ if any of the parts differs. Sections store it for files that were
// written.
func Digest(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:8])
}
