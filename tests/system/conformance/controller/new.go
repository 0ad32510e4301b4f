package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/juju/charm/v12"
)

// New makes a model with an application, of the charm in a directory, without units, and its peer
// relations. The charm's archives and the state are kept in dir; the agents read the archives there.
func New(dir, charmDir string) (*Controller, error) {
	c := &Controller{dir: dir, changed: make(chan struct{}), watches: map[string]*watch{}}
	ch, archive, err := c.pack(charmDir, 0)
	if err != nil {
		return nil, err
	}
	c.charm = ch
	c.state = State{
		App: ch.Meta().Name, LeaderSettings: map[string]string{}, Config: map[string]any{}, Charms: []Archive{archive},
		Status: now("unset", ""), Units: map[string]*Unit{}, Gone: map[string]*Unit{}, Actions: map[string]*Action{}, NextRelation: 1,
	}
	peers := slices.Sorted(maps.Keys(ch.Meta().Peers))
	slices.Reverse(peers) // as the lab numbers them
	for _, name := range peers {
		c.state.Relations = append(c.state.Relations, &Relation{
			ID: c.state.NextRelation, Endpoint: ch.Meta().Peers[name], Life: "alive", App: newBag(), Units: map[string]*Bag{},
		})
		c.state.NextRelation++
	}
	c.save()
	return c, nil
}

// pack makes an archive of a charm, as `juju deploy ./charm` does.
func (c *Controller) pack(dir string, revision int) (*charm.CharmDir, Archive, error) {
	ch, err := charm.ReadCharmDir(dir)
	if err != nil {
		return nil, Archive{}, fmt.Errorf("cannot read the charm: %w", err)
	}
	archive := Archive{
		URL:  fmt.Sprintf("local:%s-%d", ch.Meta().Name, revision),
		File: fmt.Sprintf("charm-%d.zip", revision),
	}
	file, err := os.Create(filepath.Join(c.dir, archive.File))
	if err != nil {
		return nil, archive, err
	}
	defer file.Close()
	if err := ch.ArchiveTo(file); err != nil {
		return nil, archive, fmt.Errorf("cannot pack the charm: %w", err)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, archive, err
	}
	sum := sha256.Sum256(text)
	archive.SHA256 = hex.EncodeToString(sum[:])
	return ch, archive, nil
}

// save writes the state for people to read; nothing reads it back.
func (c *Controller) save() {
	text, err := json.MarshalIndent(c.state, "", " ")
	if err != nil {
		return
	}
	file := filepath.Join(c.dir, "state.json")
	if os.WriteFile(file+".new", text, 0o600) == nil {
		_ = os.Rename(file+".new", file)
	}
}
