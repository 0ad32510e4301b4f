package machine

import (
	"fmt"
	"path/filepath"
)

// DB is the short name of a database.
type DB string

// The databases of ovn-central.
const (
	NB DB = "nb"
	SB DB = "sb"
)

// Databases are both, in the order in which things are done to them.
var Databases = []DB{NB, SB}

// Schema is the database's name in OVSDB.
func (db DB) Schema() string {
	if db == NB {
		return "OVN_Northbound"
	}
	return "OVN_Southbound"
}

// Service is the name of the database's service, without ".service".
func (db DB) Service() string { return "ovn-ovsdb-server-" + string(db) }

// ClientPort is where clients without a role connect: ovn-nbctl(8); for the
// Southbound database the charm's convention, beside the chassis' own port
// (LP#1864640).
func (db DB) ClientPort() int {
	if db == NB {
		return 6641
	}
	return 16642
}

// ChassisPort is where ovn-controller connects, as the role of that name
// (ovn-sbctl(8)).
const ChassisPort = 6642

// RaftPort is where the members connect (ovn-ctl(8), --db-nb-cluster-local-port).
func (db DB) RaftPort() int {
	if db == NB {
		return 6643
	}
	return 6644
}

// stem is what ovn-ctl calls the files of the database's server.
func (db DB) stem() string { return fmt.Sprintf("ovn%s_db", db) }

// DBFile is the database's file.
func (m *Machine) DBFile(db DB) string { return filepath.Join(m.DBDir(), db.stem()+".db") }

// Ctl is the control socket of the database's server.
func (m *Machine) Ctl(db DB) string { return filepath.Join(m.RunDir(), db.stem()+".ctl") }

// Socket is where clients on the machine itself connect.
func (m *Machine) Socket(db DB) string { return filepath.Join(m.RunDir(), db.stem()+".sock") }

// Client is where clients reach the machine's server, without a role: ssl:ADDRESS:PORT.
func (m *Machine) Client(db DB) string { return m.ssl(db.ClientPort()) }

// Raft is the address of the machine's server as a member.
func (m *Machine) Raft(db DB) string { return m.ssl(db.RaftPort()) }

func (m *Machine) ssl(port int) string { return fmt.Sprintf("ssl:%s:%d", m.Address, port) }

// Server is the process of the database's server, by its pid file: the main
// process of its service may be the ovn-ctl that waits for it.
func (m *Machine) Server(db DB) (Process, bool) {
	return m.fromPidFile(filepath.Join(m.RunDir(), db.stem()+".pid"))
}
