// Package machine is what the lab has in place of a unit's machine: directories
// of its own, an address on the loopback, and the services of the ovn-central
// packages, as processes that a systemctl of its own starts and stops.
package machine

import (
	"encoding/json"
	"fmt"
	"os"
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

// ClientPort is where clients connect (ovn-nbctl(8), ovn-sbctl(8)).
func (db DB) ClientPort() int {
	if db == NB {
		return 6641
	}
	return 6642
}

// RaftPort is where the members connect (ovn-ctl(8), --db-nb-cluster-local-port).
func (db DB) RaftPort() int {
	if db == NB {
		return 6643
	}
	return 6644
}

// chassisPort is the second client port of the Southbound database: the charm's
// convention for a port without access control, beside the chassis' own.
const chassisPort = 16642

// Machine is one unit's machine. Its directory holds everything it has.
type Machine struct {
	Dir     string `json:"dir"`
	Lab     string `json:"lab"` // the lab's directory, above Dir
	Address string `json:"address"`
}

const fileName = "machine.json"

// Create makes the machine's directories and the links by which program plays
// systemctl and the wrappers of OVN's tools.
func Create(m *Machine, program string) error {
	for _, dir := range []string{m.RunDir(), m.DBDir(), m.LogDir(), m.SysconfDir(), m.BinDir(), m.TracedDir(), m.pidDir(), m.flagDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("cannot make the machine: %w", err)
		}
	}
	links := map[string]string{filepath.Join(m.BinDir(), "systemctl"): program}
	for _, tool := range Traced {
		links[filepath.Join(m.TracedDir(), tool)] = program
	}
	for link, target := range links {
		if err := os.Symlink(target, link); err != nil {
			return fmt.Errorf("cannot make the machine: %w", err)
		}
	}
	data, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.Dir, fileName), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot make the machine: %w", err)
	}
	return nil
}

// Load reads the machine that was made in dir.
func Load(dir string) (*Machine, error) {
	data, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		return nil, fmt.Errorf("cannot read the machine: %w", err)
	}
	m := &Machine{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("cannot read the machine %s: %w", dir, err)
	}
	return m, nil
}

// RunDir is OVN_RUNDIR: sockets and pid files.
func (m *Machine) RunDir() string { return filepath.Join(m.Dir, "run") }

// DBDir is OVN_DBDIR.
func (m *Machine) DBDir() string { return filepath.Join(m.Dir, "db") }

// LogDir is OVN_LOGDIR.
func (m *Machine) LogDir() string { return filepath.Join(m.Dir, "log") }

// SysconfDir is OVN_SYSCONFDIR.
func (m *Machine) SysconfDir() string { return filepath.Join(m.Dir, "etc") }

// BinDir holds systemctl.
func (m *Machine) BinDir() string { return filepath.Join(m.Dir, "bin") }

// TracedDir holds the wrappers of [Traced].
func (m *Machine) TracedDir() string { return filepath.Join(m.Dir, "traced") }

func (m *Machine) pidDir() string { return filepath.Join(m.Dir, "pids") }

func (m *Machine) flagDir() string { return filepath.Join(m.Dir, "systemd") }

// DBFile is the database's file.
func (m *Machine) DBFile(db DB) string {
	return filepath.Join(m.DBDir(), fmt.Sprintf("ovn%s_db.db", db))
}

// Ctl is the control socket of the database's server.
func (m *Machine) Ctl(db DB) string {
	return filepath.Join(m.RunDir(), fmt.Sprintf("ovn%s_db.ctl", db))
}

// Client is where clients reach the machine's server.
func (m *Machine) Client(db DB) string {
	return fmt.Sprintf("tcp:%s:%d", m.Address, db.ClientPort())
}

// Raft is the address of the machine's server as a member.
func (m *Machine) Raft(db DB) string { return fmt.Sprintf("tcp:%s:%d", m.Address, db.RaftPort()) }

// Environment tells OVN's programs, and the charm, where this machine's files
// are.
func (m *Machine) Environment() []string {
	return []string{
		"OVN_RUNDIR=" + m.RunDir(), "OVN_DBDIR=" + m.DBDir(), "OVN_LOGDIR=" + m.LogDir(), "OVN_SYSCONFDIR=" + m.SysconfDir(),
	}
}
