package controller

import (
	"fmt"

	"github.com/juju/juju/environs/config"
	"github.com/juju/juju/rpc/params"
)

// What the model is.
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

// archiveFacade tells an agent the file of a charm, which a real one downloads.
const archiveFacade = "Archive"

func (s session) archive(url string) (Archive, error) {
	for _, archive := range s.state.Charms {
		if archive.URL == url {
			return archive, nil
		}
	}
	return Archive{}, fault{params.CodeNotFound, fmt.Sprintf("charm %q not found", url)}
}

// settings are all options with their values: nil if there is none.
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
