package agentservice

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// render returns the agent's configuration. The agent connects only to this unit's own servers. If they are down,
// another unit has to act.
func render(p ovndb.Paths, o facts.Facts) ([]byte, error) {
	credentials, agent := p.Credentials(), o.Known.Settings.Agent
	var generation []byte
	for _, path := range []string{credentials.Key, credentials.Certificate, credentials.CA} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot configure the agent: %w", err)
		}
		generation = append(generation, text...)
	}
	at := func(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
	c := config.Config{
		Unit: o.Application.Unit, Mode: config.Mode(agent.Mode), TTL: agent.TTL, HoldDown: agent.HoldDown,
		NeutronGateways: agent.NeutronGateways, CordonNew: agent.CordonNew, Northd: true,
		NB: []string{"unix:" + p.Socket(ovndb.NB)}, SB: []string{"unix:" + p.Socket(ovndb.SB)},
		Listen: at("127.0.0.1", agent.Port), PeerListen: at(o.Addresses.Own.String(), ovndb.AgentPeerPort),
		Socket: p.AgentSocket(),
		Key:    credentials.Key, Certificate: credentials.Certificate, CA: credentials.CA,
		Generation: unitstate.Digest(generation),
		Backups:    p.Backups, BackupInterval: o.Known.Settings.Backup.Interval,
	}
	for _, address := range o.Application.PeerAddresses() {
		c.Peers = append(c.Peers, at(address.String(), ovndb.AgentPeerPort))
	}
	slices.Sort(c.Peers)
	return c.Render(), c.Check()
}

// fileStamp identifies the content of a file by its size and time: Juju unpacks each charm again.
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
		_, err = atomicfile.Install(to, text, 0o755)
	}
	if err != nil {
		return fmt.Errorf("cannot copy the agent's program: %w", err)
	}
	return nil
}

// steppedRestarts is the first release of systemd that can lengthen the wait before each restart (RestartSteps in
// systemd.service(5)). Older releases wait for RestartSec each time, and warn of a key that they don't know.
const steppedRestarts = 254

// unit returns the agent's systemd unit (systemd.service(5), systemd.exec(5)). The agent runs as root, since root owns
// the servers' sockets and the unit's key, but without root's capabilities. It may read files that root owns, and
// connect. The only directory that it can write to is the directory of the servers' sockets, which has its own socket
// too. That directory is made before the start: otherwise systemd would keep it read-only while the agent runs.
func unit(p ovndb.Paths, systemd int) string {
	backoff := ""
	if systemd >= steppedRestarts {
		backoff = "RestartSteps=5\nRestartMaxDelaySec=60\n"
	}
	return strings.NewReplacer(
		"BACKOFF\n", backoff, "PROGRAM", p.AgentProgram(), "CONFIG", p.AgentConfig(),
		"RUNDIR", filepath.Dir(p.AgentSocket()),
	).Replace(`[Unit]
Description=Agent of the charm ovn-central
After=network-online.target ovn-central.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
ExecStartPre=-+mkdir -p -m 0755 RUNDIR
ExecStart=PROGRAM agent --config CONFIG
ExecReload=kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
BACKOFF
WatchdogSec=30
TimeoutStopSec=15
UMask=0077
CapabilityBoundingSet=
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=-RUNDIR
ProtectHome=yes
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
PrivateDevices=yes
PrivateTmp=yes
RemoveIPC=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`)
}
