package ovndb

import "strings"

// Service is a systemd unit of the ovn-central package, by its name without ".service".
type Service string

// The units of the package. Umbrella represents the others. A stop of Umbrella returns before they are down.
const (
	Umbrella         Service = "ovn-central"
	NorthboundServer Service = "ovn-ovsdb-server-nb"
	SouthboundServer Service = "ovn-ovsdb-server-sb"
	Northd           Service = "ovn-northd"
)

// The charm's own units.
const (
	Agent  Service = "ovn-central-agent"
	Backup Service = "ovn-central-backup"
	// BackupTimer starts Backup.
	BackupTimer Service = "ovn-central-backup.timer"
)

// AllServices returns the package's services in stopping order: first ovn-northd, which writes, then the servers.
func AllServices() []Service { return []Service{Northd, NorthboundServer, SouthboundServer, Umbrella} }

// JoinServices joins the names of services for people.
func JoinServices(services []Service) string {
	all := make([]string, len(services))
	for i, s := range services {
		all[i] = string(s)
	}
	return strings.Join(all, ", ")
}

// ServiceOf returns the systemd unit that runs the server of database d.
func ServiceOf(d Database) Service {
	if d == SB {
		return SouthboundServer
	}
	return NorthboundServer
}
