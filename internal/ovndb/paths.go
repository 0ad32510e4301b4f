package ovndb

import (
	"cmp"
	"path/filepath"
)

// Paths are the directories of one unit's OVN.
type Paths struct {
	// Run holds sockets and pid files, DB the databases, Etc the certificates.
	Run, DB, Etc string
	// Data holds the schemas; empty is where the packages put them.
	Data string
	// Logs holds the logs; empty is where the packages put them.
	Logs string
	// Backups holds the copies of the databases that an operator asked for.
	Backups string
}

// PathsFromEnv reads OVN's own variables, with the packages' defaults, as
// /usr/share/ovn/scripts/ovn-lib does, so that several units can live on one
// machine. Backups stand beside the databases where these have a place of their own.
func PathsFromEnv(getenv func(string) string) Paths {
	or := func(value, fallback string) string {
		if value != "" {
			return value
		}
		return fallback
	}
	backups := "/var/backups/ovn-central"
	if own := getenv("OVN_DBDIR"); own != "" {
		backups = filepath.Join(filepath.Dir(own), "backups")
	}
	etc := filepath.Join(or(getenv("OVN_SYSCONFDIR"), "/etc"), "ovn")
	db := "/var/lib/ovn"
	if getenv("OVN_SYSCONFDIR") != "" {
		db = etc
	}
	return Paths{
		Run:  or(getenv("OVN_RUNDIR"), "/var/run/ovn"),
		DB:   or(getenv("OVN_DBDIR"), db),
		Etc:  etc,
		Data: getenv("OVN_PKGDATADIR"),
		Logs: getenv("OVN_LOGDIR"),

		Backups: backups,
	}
}

func stem(d Database) string { return "ovn" + d.Short() + "_db" }

// Control is the unixctl socket of the database's server.
func (p Paths) Control(d Database) string { return filepath.Join(p.Run, stem(d)+".ctl") }

// Socket is the server's client socket: no TLS, no RBAC, root only.
func (p Paths) Socket(d Database) string { return filepath.Join(p.Run, stem(d)+".sock") }

// PID is the pid file of the database's server.
func (p Paths) PID(d Database) string { return filepath.Join(p.Run, stem(d)+".pid") }

// File is the database file.
func (p Paths) File(d Database) string { return filepath.Join(p.DB, stem(d)+".db") }

// Schema is the file that says what tables database d has.
func (p Paths) Schema(d Database) string {
	return filepath.Join(cmp.Or(p.Data, "/usr/share/ovn"), "ovn-"+d.Short()+".ovsschema")
}

// Log is the log of the database's server.
func (p Paths) Log(d Database) string {
	return filepath.Join(cmp.Or(p.Logs, "/var/log/ovn"), "ovsdb-server-"+d.Short()+".log")
}

// Defaults is the file in which the services' units look for options of ovn-ctl
// (EnvironmentFile= in ovn-*.service). It stands beside Etc, as /etc/default does
// beside /etc/ovn.
func (p Paths) Defaults() string {
	return filepath.Join(filepath.Dir(p.Etc), "default", string(Umbrella))
}

// Apt is where the package sources stand: beside Etc, as /etc/apt does beside
// /etc/ovn.
func (p Paths) Apt() string { return filepath.Join(filepath.Dir(p.Etc), "apt") }

// NorthdParams is the file in which ovn-ctl looks for the arguments of ovn-northd
// (ovn_northd_db_conf_file in ovn-ctl).
func (p Paths) NorthdParams() string { return filepath.Join(p.Etc, "ovn-northd-db-params.conf") }

// NorthdPID is the file with the process ID of ovn-northd.
func (p Paths) NorthdPID() string { return filepath.Join(p.Run, string(Northd)+".pid") }

// Credentials are the files for connections over TLS, as the services' units are
// told of them.
type Credentials struct{ Key, Certificate, CA string }

// Credentials are where the charm keeps the unit's key and certificates, under
// the names that the charm before this one gave them.
func (p Paths) Credentials() Credentials {
	return Credentials{
		Key:         filepath.Join(p.Etc, "key_host"),
		Certificate: filepath.Join(p.Etc, "cert_host"),
		CA:          filepath.Join(p.Etc, "ovn-central.crt"),
	}
}

// AgentUnit is the file of the agent's unit of systemd. It stands beside Etc, as
// /etc/systemd does beside /etc/ovn.
func (p Paths) AgentUnit() string { return p.unit(string(Agent) + ".service") }

// BackupUnit is the file of the unit of systemd that makes a backup.
func (p Paths) BackupUnit() string { return p.unit(string(Backup) + ".service") }

// BackupTimer is the file of the timer that starts it.
func (p Paths) BackupTimer() string { return p.unit(string(BackupTimer)) }

func (p Paths) unit(name string) string {
	return filepath.Join(filepath.Dir(p.Etc), "systemd", "system", name)
}

// Findings is the file with what the unit's last hook has found.
func (p Paths) Findings() string { return filepath.Join(p.Run, "ovn-central-findings.json") }

// AgentConfig is the file that the agent is configured by.
func (p Paths) AgentConfig() string { return filepath.Join(p.Etc, string(Agent)+".json") }

// AgentSocket is where root of this machine operates on nodes.
func (p Paths) AgentSocket() string { return filepath.Join(p.Run, string(Agent)+".sock") }

// AgentProgram is the program that systemd runs: a copy, since Juju replaces the charm's
// directory under what runs. It stands beside DB, in a directory of its own.
func (p Paths) AgentProgram() string {
	return filepath.Join(filepath.Dir(p.DB), "ovn-central-operator", "ovn-central-operator")
}

// StartGuard is the file that says which units are asked before a server is started.
func (p Paths) StartGuard() string { return filepath.Join(p.Etc, "ovn-central-start-guard.json") }

// StartRefusal is the file in which the start guard says why it has kept the database's server
// from starting. It is gone after a boot.
func (p Paths) StartRefusal(d Database) string {
	return filepath.Join(p.Run, "ovn-central-start-guard-"+d.Short()+".json")
}

// DropIn is the charm's part of a unit of the packages (systemd.unit(5)).
func (p Paths) DropIn(s Service) string {
	return filepath.Join(p.unit(string(s)+".service.d"), "ovn-central-operator.conf")
}
