package deploy

import (
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// The ports, which are those of the charm before this one; clients compute them.
const (
	NorthboundPort = "6641"
	// SouthboundPort is for ovn-controllers, which may write what their role allows.
	SouthboundPort = "6642"
	// ManagementPort is the Southbound database's for northd and the CMS, without
	// a role.
	ManagementPort     = "16642"
	NorthboundRaftPort = "6643"
	SouthboundRaftPort = "6644"
)

// Host is an address as it stands in URLs: IPv6 in brackets.
func Host(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

// RaftAddress is where the member at an address speaks Raft.
func RaftAddress(db raft.Database, address string) string {
	port := NorthboundRaftPort
	if db == raft.SB {
		port = SouthboundRaftPort
	}
	return "ssl:" + Host(address) + ":" + port
}

// HostOf is the address in a Raft address, without brackets.
func HostOf(raftAddress string) string {
	_, rest, _ := strings.Cut(raftAddress, ":")
	if i := strings.LastIndex(rest, ":"); i >= 0 {
		rest = rest[:i]
	}
	return strings.Trim(rest, "[]")
}
