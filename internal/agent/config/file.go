package config

import (
	"encoding/json"
	"slices"
	"time"
)

// file is the configuration file's form: its durations are texts such as 5s.
type file struct {
	Config
	TTL            span `json:"lease-ttl"`
	HoldDown       span `json:"hold-down"`
	BackupInterval span `json:"backup-interval"`
}

func (c Config) file() file { return file{c, span(c.TTL), span(c.HoldDown), span(c.BackupInterval)} }

// span is a duration such as 5s.
type span time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = span(d)
	return err
}

// Render returns the content of the file.
func (c Config) Render() []byte {
	text, _ := json.MarshalIndent(c.file(), "", "  ") // texts and numbers always marshal
	return append(text, '\n')
}

// Parse parses the content of the file; absent keys are as in defaults. Unknown keys are ignored: a newer charm may
// have written them. The error is that of the JSON text.
func Parse(text []byte, defaults Config) (Config, error) {
	f := defaults.file()
	// Unmarshal writes into the elements of an existing slice.
	f.NB, f.SB, f.Peers = slices.Clone(f.NB), slices.Clone(f.SB), slices.Clone(f.Peers)
	if err := json.Unmarshal(text, &f); err != nil {
		return Config{}, err
	}
	c := f.Config
	c.TTL, c.HoldDown, c.BackupInterval = time.Duration(f.TTL), time.Duration(f.HoldDown), time.Duration(f.BackupInterval)
	return c, nil
}
