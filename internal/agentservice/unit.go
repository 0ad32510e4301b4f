package agentservice

import (
	"path/filepath"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// steppedRestarts is the release of systemd since which restarts can wait longer and longer (RestartSteps in
// systemd.service(5)). Before it, each waits for RestartSec, and systemd warns of a key that it doesn't know.
const steppedRestarts = 254

// unit is the agent's unit of systemd (systemd.service(5), systemd.exec(5)). The agent runs as root, since root owns
// the servers' sockets and the unit's key, but without root's capabilities. It may read what root owns and connect. It
// can write only to the directory of the servers' sockets, where it has its own. That directory is made before the
// start: otherwise systemd would keep it read-only while the agent runs.
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
