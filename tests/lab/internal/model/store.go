package model

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// FileName is the model's file in the lab's directory.
const FileName = "state.json"

// Model is a [State] that goroutines share, with its file.
type Model struct {
	mu    sync.Mutex
	path  string
	state *State
}

// New makes a model of s that is stored in dir.
func New(dir string, s *State) *Model {
	return &Model{path: filepath.Join(dir, FileName), state: s}
}

// Load reads the model that is stored in dir.
func Load(dir string) (*Model, error) {
	m := &Model{path: filepath.Join(dir, FileName), state: &State{}}
	data, err := os.ReadFile(m.path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the lab's state: %w", err)
	}
	if err := json.Unmarshal(data, m.state); err != nil {
		return nil, fmt.Errorf("cannot read the lab's state %s: %w", m.path, err)
	}
	return m, nil
}

// Do runs f with the state. Nothing of it may be kept or changed after f.
func (m *Model) Do(f func(*State)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.state)
}

// Save writes the model to its file, at once or not at all.
func (m *Model) Save() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := json.MarshalIndent(m.state, "", " ")
	if err != nil {
		return fmt.Errorf("cannot store the lab's state: %w", err)
	}
	temporary := m.path + ".new"
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("cannot store the lab's state: %w", err)
	}
	if err := os.Rename(temporary, m.path); err != nil {
		return fmt.Errorf("cannot store the lab's state: %w", err)
	}
	return nil
}
