// Package config has the agent's configuration, and the file in which the charm writes it.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Mode determines how much the agent does.
type Mode string

const (
	// Off means that the agent follows the record and never takes it.
	Off Mode = "off"
	// Advise means that the agent takes part and reports what it would change, but changes no gateway.
	Advise Mode = "advise"
	// On means that the agent, while it holds the lease, gives gateways their candidates.
	On Mode = "on"
)

// Config is an agent's configuration. The keys of its file are the names of the flags.
type Config struct {
	// Unit is the agent's name in the record, such as ovn-central/0.
	Unit string `json:"unit"`
	Mode Mode   `json:"mode"`
	// NB and SB are the endpoints of the databases, best first.
	NB []string `json:"nb"`
	SB []string `json:"sb"`
	// TTL is how long a holder may stay silent.
	TTL time.Duration `json:"-"`
	// HoldDown is how long a chassis or a gateway must keep its state before the agent reacts to it.
	HoldDown time.Duration `json:"-"`
	// NeutronGateways makes the agent schedule gateways that Neutron owns, too.
	NeutronGateways bool `json:"schedule-neutron-gateways"`
	// CordonNew makes the agent cordon each chassis that can host gateways for the first time.
	CordonNew bool `json:"cordon-new-chassis"`
	// Northd reports whether ovn-northd should run on this machine: the unit does not act while it does not work.
	Northd bool `json:"northd"`
	// Listen is the address for programs of this machine, on the loopback.
	Listen string `json:"listen"`
	// PeerListen is the address for other agents. If it is empty, the agent never takes the record: others could not
	// hear it.
	PeerListen string `json:"peer-listen"`
	// Peers are the addresses of all other agents; an absent one counts as silent.
	Peers []string `json:"peers"`
	// Socket is the path of the socket through which root drains nodes and puts them back; empty if there is no socket.
	Socket string `json:"socket"`
	// Key, Certificate and CA are files for ssl: endpoints and for peers. Without them the agent asks peers without TLS,
	// on the loopback only.
	Key         string `json:"private-key"`
	Certificate string `json:"certificate"`
	CA          string `json:"ca-cert"`
	// Backups is the directory of this machine's backups. BackupInterval is the time between two; it is 0 if none are
	// scheduled.
	Backups        string        `json:"backups"`
	BackupInterval time.Duration `json:"-"`
	// Generation changes with the content of the credential files, so that the agent reads them again.
	Generation string `json:"generation"`
}

// Secure reports whether the agent has credentials.
func (c Config) Secure() bool { return c.Key != "" || c.Certificate != "" || c.CA != "" }

// Check returns what is wrong with the configuration, or nil.
func (c Config) Check() error {
	switch {
	case c.Unit == "":
		return errors.New("unit has no name")
	case c.TTL < lease.MinTTL || c.TTL > lease.MaxTTL:
		return fmt.Errorf("lease-ttl %s is not between %s and %s", c.TTL, lease.MinTTL, lease.MaxTTL)
	case c.HoldDown < 0 || c.HoldDown > drift.MaxHoldDown:
		return fmt.Errorf("hold-down %s is not between 0s and %s", c.HoldDown, drift.MaxHoldDown)
	case c.Mode != Off && c.Mode != Advise && c.Mode != On:
		return fmt.Errorf("mode is %q: it takes %s, %s or %s", c.Mode, Off, Advise, On)
	case len(c.NB) == 0 || len(c.SB) == 0:
		return errors.New("nb or sb names no endpoint")
	case c.Secure() && (c.Key == "" || c.Certificate == "" || c.CA == ""):
		return errors.New("private-key, certificate and ca-cert are given together or not at all")
	}
	if at, err := netip.ParseAddrPort(c.Listen); err != nil || !at.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("listen %q is not an address and port of the loopback, such as 127.0.0.1:%d", c.Listen,
			ovndb.DefaultAgentPort)
	}
	if err := c.checkPeer("peer-listen", c.PeerListen); err != nil {
		return err
	}
	for _, peer := range c.Peers {
		if err := c.checkPeer("peer", peer); err != nil {
			return err
		}
	}
	return nil
}

// checkPeer returns an error if an address for peers is invalid. An empty address is valid.
func (c Config) checkPeer(option, peer string) error {
	if peer == "" {
		return nil
	}
	at, err := netip.ParseAddrPort(peer)
	ip := at.Addr().Unmap()
	switch {
	case err != nil || ip.IsUnspecified():
		return fmt.Errorf("%s %q is not an address and port at which an agent can be asked, such as 10.0.0.5:%d", option,
			peer, ovndb.AgentPeerPort)
	case !c.Secure() && !ip.IsLoopback():
		return fmt.Errorf("%s %q is not on the loopback: it needs private-key, certificate and ca-cert", option, peer)
	}
	return nil
}

// Knows reports whether an address with a port is the agent's own or a peer's, in any notation of an IPv6 address.
func (c Config) Knows(hostPort string) bool {
	if hostPort == "" {
		return false
	}
	at, wrong := netip.ParseAddrPort(hostPort)
	return slices.ContainsFunc(append([]string{c.PeerListen}, c.Peers...), func(known string) bool {
		one, err := netip.ParseAddrPort(known)
		if wrong != nil || err != nil {
			return known == hostPort
		}
		return one.Port() == at.Port() && one.Addr().Unmap() == at.Addr().Unmap()
	})
}

// Restarts reports whether an agent with configuration c has to restart to use next.
func (c Config) Restarts(next Config) bool {
	return c.Unit != next.Unit || c.Northd != next.Northd || c.TTL != next.TTL || c.Listen != next.Listen ||
		c.PeerListen != next.PeerListen || c.Socket != next.Socket ||
		c.Key != next.Key || c.Certificate != next.Certificate || c.CA != next.CA ||
		!slices.Equal(c.NB, next.NB) || !slices.Equal(c.SB, next.SB)
}

// file is the form of the configuration file, with durations as texts such as 5s.
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

// Parse parses the content of the file. Absent keys get their values from defaults. Unknown keys are ignored: a newer
// charm may have written them. An error is the JSON parser's.
func Parse(text []byte, defaults Config) (Config, error) {
	f := defaults.file()
	// Unmarshal writes into the elements of an existing slice, so copy them.
	f.NB, f.SB, f.Peers = slices.Clone(f.NB), slices.Clone(f.SB), slices.Clone(f.Peers)
	if err := json.Unmarshal(text, &f); err != nil {
		return Config{}, err
	}
	c := f.Config
	c.TTL, c.HoldDown, c.BackupInterval = time.Duration(f.TTL), time.Duration(f.HoldDown), time.Duration(f.BackupInterval)
	return c, nil
}
