// Package machine is the lab's version of a unit's machine: directories, a network namespace, the ovn-central packages
// with a systemd that runs their units, and the programs that manage packages and the firewall.
package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
)

// Machine is one unit's machine, or the lab's hub, which has no services. All its files are in its directory.
type Machine struct {
	Dir string `json:"dir"`
	Lab string `json:"lab"` // the lab's directory, above Dir
	// Port is the machine's number on the hub's bridge; the hub's is 0.
	Port int `json:"port"`
	// Address is the address of its servers. Others are its further addresses.
	Address string   `json:"address"`
	Others  []string `json:"others,omitempty"`
	// Restart reports whether services are started again as their Restart= says.
	Restart bool `json:"restart,omitempty"`
	// Bare means that only the charm sets the machine up.
	Bare bool `json:"bare,omitempty"`
	// QuietNorthd keeps ovn-central.service from wanting ovn-northd.service.
	QuietNorthd bool `json:"quiet_northd,omitempty"`
}

const fileName = "machine.json"

// Create makes the machine's directories, and the links of replacements and wrappers to the client. It is off.
func Create(m *Machine, program string) error {
	for _, dir := range []string{
		m.RunDir(), m.DBDir(), m.LogDir(), m.ConfDir(), filepath.Dir(m.Defaults()), m.BinDir(), m.TracedDir(), m.wantsDir(), m.dpkgDir(),
		filepath.Join(m.SysconfDir(), "apt", "sources.list.d"), filepath.Join(m.SysconfDir(), "apt", "trusted.gpg.d"),
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("cannot make the machine: %w", err)
		}
	}
	var links []string
	for tool := range standIns {
		links = append(links, filepath.Join(m.BinDir(), tool))
	}
	for _, tool := range wrapped {
		links = append(links, filepath.Join(m.TracedDir(), tool))
	}
	for _, link := range links {
		if err := os.Symlink(hooktool.Client(program), link); err != nil {
			return fmt.Errorf("cannot make the machine: %w", err)
		}
	}
	return errors.Join(m.writeStatus(packages{}), m.save())
}

// CopyDisk copies the disk of another machine.
func (m *Machine) CopyDisk(from *Machine) error {
	for _, dir := range []string{"db", "etc", "dpkg"} {
		own := filepath.Join(m.Dir, dir)
		if err := errors.Join(os.RemoveAll(own), os.CopyFS(own, os.DirFS(filepath.Join(from.Dir, dir)))); err != nil {
			return fmt.Errorf("cannot copy a disk: %w", err)
		}
	}
	for old, own := range map[string]string{from.packagesFile(): m.packagesFile(), from.firewallFile(): m.firewallFile()} {
		content, err := os.ReadFile(old)
		if err == nil {
			err = os.WriteFile(own, content, 0o600)
		}
		if err != nil {
			return fmt.Errorf("cannot copy a disk: %w", err)
		}
	}
	return nil
}

func (m *Machine) save() error {
	if err := writeJSON(filepath.Join(m.Dir, fileName), m); err != nil {
		return fmt.Errorf("cannot write the machine: %w", err)
	}
	return nil
}

// writeJSON replaces a file atomically: other processes read it at any time.
func writeJSON(path string, value any) error {
	data, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(path+".new", data, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
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

// RunDir returns OVN_RUNDIR, which has sockets and pid files.
func (m *Machine) RunDir() string { return filepath.Join(m.Dir, "run") }

// DBDir returns OVN_DBDIR. It remains after the unit is removed, until the lab is closed.
func (m *Machine) DBDir() string { return filepath.Join(m.Dir, "db") }

// LogDir returns OVN_LOGDIR.
func (m *Machine) LogDir() string { return filepath.Join(m.Dir, "log") }

// SysconfDir returns OVN_SYSCONFDIR, which replaces /etc.
func (m *Machine) SysconfDir() string { return filepath.Join(m.Dir, "etc") }

// ConfDir returns the directory of OVN's own files, /etc/ovn (ovn-lib, ovn_etcdir).
func (m *Machine) ConfDir() string { return filepath.Join(m.SysconfDir(), "ovn") }

// Defaults returns the EnvironmentFile of the packages' services.
func (m *Machine) Defaults() string { return filepath.Join(m.SysconfDir(), "default", "ovn-central") }

// NorthdParams returns the file that tells ovn-northd where the databases are (ovn-ctl, ovn_northd_db_conf_file).
func (m *Machine) NorthdParams() string {
	return filepath.Join(m.ConfDir(), "ovn-northd-db-params.conf")
}

// BinDir holds systemctl and the lab's other replacements of programs.
func (m *Machine) BinDir() string { return filepath.Join(m.Dir, "bin") }

// TracedDir holds the wrappers of OVN's tools, which are on the PATH only of hooks whose calls are counted.
func (m *Machine) TracedDir() string { return filepath.Join(m.Dir, "traced") }

// Environment returns variables that show OVN's programs and the charm where this machine's files are.
func (m *Machine) Environment() []string {
	variables := []string{
		"OVN_RUNDIR=" + m.RunDir(), "OVN_DBDIR=" + m.DBDir(), "OVN_LOGDIR=" + m.LogDir(), "OVN_SYSCONFDIR=" + m.SysconfDir(),
		"DPKG_ADMINDIR=" + m.dpkgDir(),
	}
	if _, err := os.Stat(m.DataDir()); err == nil {
		variables = append(variables, "OVN_PKGDATADIR="+m.DataDir())
	}
	return variables
}

// path returns a file of the system on the machine, which has its own directories for OVN (for %t see systemd.unit(5)).
func (m *Machine) path(file string) string {
	for prefix, own := range map[string]string{"/etc/": m.SysconfDir(), "/run/ovn/": m.RunDir(), "/run/systemd/": filepath.Join(m.RunDir(), "systemd")} {
		if rest, is := strings.CutPrefix(file, prefix); is {
			return filepath.Join(own, rest)
		}
	}
	return file
}

// DB is the short name of a database.
type DB string

// The databases of ovn-central.
const (
	NB DB = "nb"
	SB DB = "sb"
)

// Databases are both databases, in the order in which the lab treats them.
var Databases = []DB{NB, SB}

// Schema returns the database's name in OVSDB.
func (db DB) Schema() string {
	if db == NB {
		return "OVN_Northbound"
	}
	return "OVN_Southbound"
}

// Service returns the name of the database's service, without ".service".
func (db DB) Service() string { return "ovn-ovsdb-server-" + string(db) }

// ClientPort returns the port for clients without a role: ovn-nbctl(8); for SB the charm's convention (LP#1864640).
func (db DB) ClientPort() int {
	if db == NB {
		return 6641
	}
	return 16642
}

// ChassisPort is the port to which ovn-controller connects, with the role of that name (ovn-sbctl(8)).
const ChassisPort = 6642

// RaftPort returns the port to which members connect (ovn-ctl(8), --db-nb-cluster-local-port).
func (db DB) RaftPort() int {
	if db == NB {
		return 6643
	}
	return 6644
}

// stem returns the beginning of ovn-ctl's names for the files of a database.
func (db DB) stem() string { return fmt.Sprintf("ovn%s_db", db) }

// DBFile returns the database's file.
func (m *Machine) DBFile(db DB) string { return filepath.Join(m.DBDir(), db.stem()+".db") }

// Ctl returns the control socket of the database's server.
func (m *Machine) Ctl(db DB) string { return filepath.Join(m.RunDir(), db.stem()+".ctl") }

// Socket returns the socket for clients on the machine itself.
func (m *Machine) Socket(db DB) string { return filepath.Join(m.RunDir(), db.stem()+".sock") }

// Client returns the endpoint for clients of the machine's server, without a role: ssl:ADDRESS:PORT.
func (m *Machine) Client(db DB) string { return m.ssl(db.ClientPort()) }

// Raft returns the address of the machine's server as a member.
func (m *Machine) Raft(db DB) string { return m.ssl(db.RaftPort()) }

func (m *Machine) ssl(port int) string { return fmt.Sprintf("ssl:%s:%d", m.Address, port) }

// Server returns the server's process by its pid file: the main process of the service may be an ovn-ctl that waits
// for it.
func (m *Machine) Server(db DB) (Process, bool) {
	return m.fromPidFile(filepath.Join(m.RunDir(), db.stem()+".pid"))
}
