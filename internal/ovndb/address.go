package ovndb

import (
	"strconv"
	"strings"
)

// The ports for clients. They are the same as the previous charm's, since clients compute them.
const (
	NorthboundPort uint16 = 6641
	// SouthboundPort is for ovn-controllers, which may write what their role allows.
	SouthboundPort uint16 = 6642
	// ManagementPort is the Southbound database's port for ovn-northd and the CMS, without a role (LP#1864640).
	ManagementPort uint16 = 16642
)

// The ports on which members speak Raft (DB_NB_CLUSTER_LOCAL_PORT and DB_SB_CLUSTER_LOCAL_PORT in ovn-ctl).
const (
	NorthboundRaftPort uint16 = 6643
	SouthboundRaftPort uint16 = 6644
)

// The ports of the agent: the default of leader-api-port, for programs of the machine, and the port for the agents of
// other units.
const (
	DefaultAgentPort uint16 = 16401
	AgentPeerPort    uint16 = 16402
)

// OwnPorts are all ports on which a unit listens.
var OwnPorts = []uint16{
	NorthboundPort, SouthboundPort, ManagementPort, NorthboundRaftPort, SouthboundRaftPort, AgentPeerPort,
}

// ClientPorts returns the ports on which a database's server serves clients.
func ClientPorts(db Database) []uint16 {
	if db == SB {
		return []uint16{SouthboundPort, ManagementPort}
	}
	return []uint16{NorthboundPort}
}

// RaftPort returns the Raft port of a database's server.
func RaftPort(db Database) uint16 {
	if db == SB {
		return SouthboundRaftPort
	}
	return NorthboundRaftPort
}

// host returns an address in the form of URLs: IPv6 in brackets.
func host(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

// RaftAddress returns the Raft address of the member at an address.
func RaftAddress(db Database, address string) string {
	return "ssl:" + host(address) + ":" + strconv.Itoa(int(RaftPort(db)))
}

// HostOf returns the address in a Raft address, without brackets.
func HostOf(raftAddress string) string {
	_, rest, _ := strings.Cut(raftAddress, ":")
	if i := strings.LastIndex(rest, ":"); i >= 0 {
		rest = rest[:i]
	}
	return strings.Trim(rest, "[]")
}

// PortOf returns the port in a Raft address; empty if there is none.
func PortOf(raftAddress string) string {
	_, rest, _ := strings.Cut(raftAddress, ":")
	i := strings.LastIndex(rest, ":")
	if i < 0 || strings.HasSuffix(rest, "]") {
		return ""
	}
	return rest[i+1:]
}
