package agentservice

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Options determine the agent's configuration.
type Options struct {
	Unit string
	Mode string
	TTL  time.Duration
	// HoldDown, NeutronGateways and CordonNew are as in [config.Config].
	HoldDown                   time.Duration
	NeutronGateways, CordonNew bool
	// Port is the agent's port for programs of this machine.
	Port uint16
	// BackupInterval is the time between two backups; 0 if none are scheduled.
	BackupInterval time.Duration
	// Address is this unit's, Peers are those of the other units.
	Address netip.Addr
	Peers   []netip.Addr
}

// render returns the agent's configuration. The agent connects only to this unit's own servers: if they are down,
// another unit has to act.
func (o Options) render(p ovndb.Paths) ([]byte, error) {
	credentials := p.Credentials()
	generation := []byte(nil)
	for _, path := range []string{credentials.Key, credentials.Certificate, credentials.CA} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot configure the agent: %w", err)
		}
		generation = append(generation, text...)
	}
	at := func(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
	c := config.Config{
		Unit: o.Unit, Mode: config.Mode(o.Mode), TTL: o.TTL, HoldDown: o.HoldDown, NeutronGateways: o.NeutronGateways,
		CordonNew: o.CordonNew, Northd: true,
		NB: []string{"unix:" + p.Socket(ovndb.NB)}, SB: []string{"unix:" + p.Socket(ovndb.SB)},
		Listen: at("127.0.0.1", o.Port), PeerListen: at(o.Address.String(), ovndb.AgentPeerPort),
		Socket: p.AgentSocket(),
		Key:    credentials.Key, Certificate: credentials.Certificate, CA: credentials.CA,
		Generation: unitstate.Digest(generation),
		Backups:    p.Backups, BackupInterval: o.BackupInterval,
	}
	for _, address := range o.Peers {
		c.Peers = append(c.Peers, at(address.String(), ovndb.AgentPeerPort))
	}
	slices.Sort(c.Peers)
	return c.Render(), c.Check()
}

// fileStamp identifies the content of a file by size and time: Juju unpacks each charm again.
func fileStamp(path string) (string, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot find the agent's program: %w", err)
	}
	return fmt.Sprintf("%d bytes of %s", stat.Size(), stat.ModTime().UTC().Format("2006-01-02T15:04:05.999999999Z")), nil
}

func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		_, err = atomicfile.WriteIfChanged(to, text, 0o755)
	}
	if err != nil {
		return fmt.Errorf("cannot copy the agent's program: %w", err)
	}
	return nil
}
