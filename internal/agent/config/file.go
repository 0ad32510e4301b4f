package config

import (
	"encoding/json"
	"slices"
	"time"
)

// file is the configuration file's form: JSON, with the names of the flags.
type file struct {
	Unit            string   `json:"unit"`
	Mode            Mode     `json:"mode"`
	NB              []string `json:"nb"`
	SB              []string `json:"sb"`
	TTL             span     `json:"lease-ttl"`
	HoldDown        span     `json:"hold-down"`
	NeutronGateways bool     `json:"schedule-neutron-gateways"`
	CordonNew       bool     `json:"cordon-new-chassis"`
	Northd          bool     `json:"northd"`
	Listen          string   `json:"listen"`
	PeerListen      string   `json:"peer-listen"`
	Peers           []string `json:"peers"`
	Socket          string   `json:"socket"`
	Key             string   `json:"private-key"`
	Certificate     string   `json:"certificate"`
	CA              string   `json:"ca-cert"`
	Backups         string   `json:"backups"`
	BackupInterval  span     `json:"backup-interval"`
	Generation      string   `json:"generation"`
}

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
	text, _ := json.MarshalIndent(file{ // texts and numbers always marshal
		c.Unit, c.Mode, c.NB, c.SB, span(c.TTL), span(c.HoldDown), c.NeutronGateways, c.CordonNew, c.Northd, c.Listen,
		c.PeerListen, c.Peers,
		c.Socket, c.Key, c.Certificate, c.CA, c.Backups, span(c.BackupInterval), c.Generation,
	}, "", "  ")
	return append(text, '\n')
}

// Parse parses the content of the file; absent keys are as in defaults. Unknown keys are ignored: a newer charm may
// have written them. The error is that of the JSON text.
func Parse(text []byte, defaults Config) (Config, error) {
	d := defaults
	f := file{
		d.Unit, d.Mode, slices.Clone(d.NB), slices.Clone(d.SB), span(d.TTL), span(d.HoldDown), d.NeutronGateways, d.CordonNew,
		d.Northd, d.Listen, d.PeerListen, slices.Clone(d.Peers),
		d.Socket, d.Key, d.Certificate, d.CA, d.Backups, span(d.BackupInterval), d.Generation,
	} // cloned: Unmarshal writes into the elements of an existing slice
	if err := json.Unmarshal(text, &f); err != nil {
		return Config{}, err
	}
	return Config{
		f.Unit, f.Mode, f.NB, f.SB, time.Duration(f.TTL), time.Duration(f.HoldDown), f.NeutronGateways, f.CordonNew, f.Northd,
		f.Listen, f.PeerListen, f.Peers,
		f.Socket, f.Key, f.Certificate, f.CA, f.Backups, time.Duration(f.BackupInterval), f.Generation,
	}, nil
}
