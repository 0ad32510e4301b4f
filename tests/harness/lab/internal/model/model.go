package model

import "sync"

// Model is a [State] that goroutines share.
type Model struct {
	mu    sync.Mutex
	state *State
}

// New makes a model of s.
func New(s *State) *Model { return &Model{state: s} }

// Do runs f with the state. Nothing of it may be kept or changed after f.
func (m *Model) Do(f func(*State)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.state)
}
