package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/juju/charm/v12"
	"github.com/juju/juju/environs/config"
	"github.com/juju/juju/rpc/params"
)

// The model's name and UUID.
const (
	modelName = "conformance"
	modelUUID = "deadbeef-0bad-400d-8000-4b1d0d06f00d"
)

var charmMethods = map[string]method{
	"Uniter.CharmURL": each(func(s session, tag string) (any, error) {
		if unitName(tag) == "" {
			return params.StringBoolResult{Result: s.state.charmURL()}, nil
		}
		return params.StringBoolResult{Result: s.unit.CharmURL, Ok: s.unit.CharmURL != ""}, nil
	}),
	"Uniter.SetCharmURL": plain(func(s session, args params.EntitiesCharmURL) (any, error) {
		return results(args.Entities, func(one params.EntityCharmURL) (any, error) {
			s.unit.CharmURL = one.CharmURL
			return nil, nil
		}), nil
	}),
	"Uniter.CharmModifiedVersion": each(func(s session, _ string) (any, error) { return params.IntResult{Result: len(s.state.Charms)}, nil }),
	"Uniter.CharmArchiveSha256": plain(func(s session, args params.CharmURLs) (any, error) {
		return results(args.URLs, func(one params.CharmURL) (any, error) {
			archive, err := s.archive(one.URL)
			return params.StringResult{Result: archive.SHA256}, err
		}), nil
	}),
	archiveFacade + ".File": plain(func(s session, url string) (any, error) {
		archive, err := s.archive(url)
		return archive.File, err
	}),
	"Uniter.LXDProfileRequired": plain(func(s session, args params.CharmURLs) (any, error) {
		return results(args.URLs, func(params.CharmURL) (any, error) { return params.BoolResult{}, nil }), nil
	}),
	"Uniter.LXDProfileName":     always(params.StringResult{}),
	"Uniter.CanApplyLXDProfile": always(params.BoolResult{}),
	"Uniter.ConfigSettings": each(func(s session, _ string) (any, error) {
		return params.ConfigSettingsResult{Settings: s.settings()}, nil
	}),
}

// archiveFacade returns the file of a charm, which a real agent downloads.
const archiveFacade = "Archive"

func (s session) archive(url string) (Archive, error) {
	for _, archive := range s.state.Charms {
		if archive.URL == url {
			return archive, nil
		}
	}
	return Archive{}, fault{params.CodeNotFound, fmt.Sprintf("charm %q not found", url)}
}

func (s session) settings() map[string]any {
	settings := map[string]any(s.charm.Config().DefaultSettings())
	for key, value := range s.state.Config {
		settings[key] = value
	}
	return settings
}

var modelMethods = map[string]method{
	"Uniter.CurrentModel": plain(func(session, any) (any, error) {
		return params.ModelResult{Name: modelName, UUID: modelUUID, Type: "iaas"}, nil
	}),
	"Uniter.ModelConfig":     plain(modelConfig),
	"Uniter.APIAddresses":    plain(func(session, any) (any, error) { return params.StringsResult{Result: []string{"10.99.0.1:17070"}}, nil }),
	"Uniter.SLALevel":        plain(func(session, any) (any, error) { return params.StringResult{Result: "unsupported"}, nil }),
	"Uniter.CloudAPIVersion": plain(func(session, any) (any, error) { return params.StringResult{}, nil }),
	"Uniter.ProviderType":    plain(func(session, any) (any, error) { return params.StringResult{Result: "manual"}, nil }),
}

func modelConfig(session, any) (any, error) {
	c, err := config.New(config.UseDefaults, map[string]any{"name": modelName, "uuid": modelUUID, "type": "manual"})
	if err != nil {
		return nil, err
	}
	return params.ModelConfigResult{Config: c.AllAttrs()}, nil
}

// New makes a model with an application, of the charm in a directory, without units, and its peer relations. The charm's
// archives are kept in dir, which the agents share.
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
