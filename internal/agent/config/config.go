// Package config is what an agent is told, and the file in which the charm tells it.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Mode is how much the agent does.
type Mode string

// The modes.
const (
	// Off: the agent follows the record, and never takes it.
	Off Mode = "off"
	// Advise: the agent takes part, says what it would do, and changes no gateway.
	Advise Mode = "advise"
	// On: the agent that holds the lease gives gateways their candidates.
	On Mode = "on"
)

// Bounds of [Config.TTL]. The record has whole seconds; below the least a busy machine makes
// the lease change hands.
const (
	MinTTL = 2 * time.Second
	MaxTTL = 5 * time.Minute
)

// MaxHoldDown is the largest [Config.HoldDown]: a chassis that has been gone for a day is.
const MaxHoldDown = 24 * time.Hour

// What holds where nothing is said. Document 003 gives the TTL and the port; the hold-down is our
// own choice.
const (
	DefaultTTL      = 5 * time.Second
	DefaultHoldDown = 2 * time.Minute
	DefaultPort     = 16401
)

// peerPort is where the agents of other units ask.
const peerPort = 16402

// Config is what an agent is told.
type Config struct {
	// Unit is its name in the record, such as ovn-central/0.
	Unit string
	Mode Mode
	// NB and SB are the endpoints of the databases, best first.
	NB, SB []string
	// TTL is how long a holder may stay silent.
	TTL time.Duration
	// HoldDown is how long a chassis, or a gateway, must be as it is before anything is
	// done about it.
	HoldDown time.Duration
	// NeutronGateways has the agent act on gateways that Neutron owns, too.
	NeutronGateways bool
	// CordonNew has the agent cordon a chassis that can host gateways for the first time.
	CordonNew bool
	// Northd says that an ovn-northd runs on this machine: while it does not work, the unit
	// does not act.
	Northd bool
	// Listen is where programs of this machine ask; an address of the loopback.
	Listen string
	// PeerListen is where other agents ask; empty where none shall, and then the agent
	// never takes the record: others could not hear it.
	PeerListen string
	// Peers are where other agents are asked, all of them: one that is not there counts as silent.
	Peers []string
	// Socket is where root of this machine operates on nodes; empty where nothing does.
	Socket string
	// Key, Certificate and CA are files for ssl: endpoints and for peers; without them
	// peers are spoken to in the clear, on the loopback only.
	Key, Certificate, CA string
	// Backups is the directory of this machine's backups, BackupInterval the time from one
	// to the next; 0 where none are made by themselves.
	Backups        string
	BackupInterval time.Duration
	// Generation is another one when the content of these files is: they are read again.
	Generation string
}

// Secure says whether the agent has credentials.
func (c Config) Secure() bool { return c.Key != "" || c.Certificate != "" || c.CA != "" }

// Check finds what is wrong with the configuration.
func (c Config) Check() error {
	switch {
	case c.Unit == "":
		return errors.New("unit has no name")
	case c.TTL < MinTTL || c.TTL > MaxTTL:
		return fmt.Errorf("lease-ttl %s is not between %s and %s", c.TTL, MinTTL, MaxTTL)
	case c.HoldDown < 0 || c.HoldDown > MaxHoldDown:
		return fmt.Errorf("hold-down %s is not between 0s and %s", c.HoldDown, MaxHoldDown)
	case c.Mode != Off && c.Mode != Advise && c.Mode != On:
		return fmt.Errorf("mode is %q: it takes %s, %s or %s", c.Mode, Off, Advise, On)
	case len(c.NB) == 0 || len(c.SB) == 0:
		return errors.New("nb or sb names no endpoint")
	case c.Secure() && (c.Key == "" || c.Certificate == "" || c.CA == ""):
		return errors.New("private-key, certificate and ca-cert are given together or not at all")
	}
	if ip, err := address(c.Listen); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("listen %q is not an address and port of the loopback, such as 127.0.0.1:%d", c.Listen, DefaultPort)
	}
	for i, peer := range slices.Concat([]string{c.PeerListen}, c.Peers) {
		option := "peer"
		if i == 0 {
			option = "peer-listen"
		}
		if peer == "" {
			continue
		}
		ip, err := address(peer)
		switch {
		case err != nil || ip.IsUnspecified():
			return fmt.Errorf("%s %q is not an address and port at which an agent can be asked, such as 10.0.0.5:%d", option, peer, peerPort)
		case !c.Secure() && !ip.IsLoopback():
			return fmt.Errorf("%s %q is not on the loopback: it needs private-key, certificate and ca-cert", option, peer)
		}
	}
	return nil
}

// Knows reports whether an address and port is the agent's own, or that of one that it asks. Of IPv6, each
// has several forms.
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

// Restarts says whether an agent that runs with c has to begin anew to run with next.
func (c Config) Restarts(next Config) bool {
	return c.Unit != next.Unit || c.Northd != next.Northd || c.TTL != next.TTL || c.Listen != next.Listen || c.PeerListen != next.PeerListen || c.Socket != next.Socket ||
		c.Key != next.Key || c.Certificate != next.Certificate || c.CA != next.CA ||
		!slices.Equal(c.NB, next.NB) || !slices.Equal(c.SB, next.SB)
}

func address(hostPort string) (net.IP, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return nil, fmt.Errorf("%q is no IP address", host)
	}
	return ip, nil
}
