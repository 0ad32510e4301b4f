package ovndb

import (
	"cmp"
	"path/filepath"
)

// Paths are the directories of one unit's OVN.
type Paths struct {
	// Run has sockets and pid files, DB the databases, Etc the certificates.
	Run, DB, Etc string
	// Data has the schemas, Logs the logs; empty means the packages' directory.
	Data, Logs string
	// Backups has the copies of the databases that an operator requested.
	Backups string
}

// PathsFromEnv reads OVN's own variables, with the packages' defaults, as /usr/share/ovn/scripts/ovn-lib does, so that
// several units can live on one machine. Backups are beside the databases if these have a directory of their own.
func PathsFromEnv(getenv func(string) string) Paths {
	backups := "/var/backups/ovn-central"
	if own := getenv("OVN_DBDIR"); own != "" {
		backups = filepath.Join(filepath.Dir(own), "backups")
	}
	etc := filepath.Join(cmp.Or(getenv("OVN_SYSCONFDIR"), "/etc"), "ovn")
	db := "/var/lib/ovn"
	if getenv("OVN_SYSCONFDIR") != "" {
		db = etc
	}
	return Paths{
		Run:  cmp.Or(getenv("OVN_RUNDIR"), "/var/run/ovn"),
		DB:   cmp.Or(getenv("OVN_DBDIR"), db),
		Etc:  etc,
		Data: getenv("OVN_PKGDATADIR"), Logs: getenv("OVN_LOGDIR"), Backups: backups,
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

// Schema is the file with the schema of database d.
func (p Paths) Schema(d Database) string {
	return filepath.Join(cmp.Or(p.Data, "/usr/share/ovn"), "ovn-"+d.Short()+".ovsschema")
}

// Log is the log of the database's server.
func (p Paths) Log(d Database) string {
	return filepath.Join(cmp.Or(p.Logs, "/var/log/ovn"), "ovsdb-server-"+d.Short()+".log")
}

// Defaults is the file with options of ovn-ctl for the services' units (EnvironmentFile= in ovn-*.service). It is
// beside Etc, as /etc/default is beside /etc/ovn.
func (p Paths) Defaults() string {
	return filepath.Join(filepath.Dir(p.Etc), "default", string(Umbrella))
}

// Apt is the directory of package sources: beside Etc, as /etc/apt is beside /etc/ovn.
func (p Paths) Apt() string { return filepath.Join(filepath.Dir(p.Etc), "apt") }

// NorthdParams is the file with ovn-northd's arguments for ovn-ctl (ovn_northd_db_conf_file in ovn-ctl).
func (p Paths) NorthdParams() string { return filepath.Join(p.Etc, "ovn-northd-db-params.conf") }

// NorthdPID is the file with the process ID of ovn-northd.
func (p Paths) NorthdPID() string { return filepath.Join(p.Run, string(Northd)+".pid") }

// Credentials are the files for connections over TLS in the services' configuration.
type Credentials struct{ Key, Certificate, CA string }

// Credentials are the files of the unit's key and certificates, with the previous charm's names.
func (p Paths) Credentials() Credentials {
	return Credentials{
		Key:         filepath.Join(p.Etc, "key_host"),
		Certificate: filepath.Join(p.Etc, "cert_host"),
		CA:          filepath.Join(p.Etc, "ovn-central.crt"),
	}
}

// AgentUnit is the file of the agent's systemd unit. It is beside Etc, as /etc/systemd is beside /etc/ovn.
func (p Paths) AgentUnit() string { return p.unit(string(Agent) + ".service") }

// BackupUnit is the file of the systemd unit that makes a backup.
func (p Paths) BackupUnit() string { return p.unit(string(Backup) + ".service") }

// BackupTimer is the file of the timer that starts it.
func (p Paths) BackupTimer() string { return p.unit(string(BackupTimer)) }

func (p Paths) unit(name string) string {
	return filepath.Join(filepath.Dir(p.Etc), "systemd", "system", name)
}

// Findings is the file with the findings of the unit's last hook.
func (p Paths) Findings() string { return filepath.Join(p.Run, "ovn-central-findings.json") }

// AgentConfig is the agent's configuration file.
func (p Paths) AgentConfig() string { return filepath.Join(p.Etc, string(Agent)+".json") }

// AgentSocket is the socket on which root of this machine operates on nodes.
func (p Paths) AgentSocket() string { return filepath.Join(p.Run, string(Agent)+".sock") }

// AgentProgram is the program that systemd runs: a copy, since Juju replaces the charm's directory while programs run.
// It is beside DB, in a directory of its own.
func (p Paths) AgentProgram() string {
	return filepath.Join(filepath.Dir(p.DB), "ovn-central-operator", "ovn-central-operator")
}

// StartGuard is the file with the units to ask before a server starts.
func (p Paths) StartGuard() string { return filepath.Join(p.Etc, "ovn-central-start-guard.json") }

// StartRefusal is the file with the start guard's reason for not starting the database's server. It is gone after a
// boot.
func (p Paths) StartRefusal(d Database) string {
	return filepath.Join(p.Run, "ovn-central-start-guard-"+d.Short()+".json")
}

// DropIn is the charm's part of a unit of the packages (systemd.unit(5)).
func (p Paths) DropIn(s Service) string {
	return filepath.Join(p.unit(string(s)+".service.d"), "ovn-central-operator.conf")
}
