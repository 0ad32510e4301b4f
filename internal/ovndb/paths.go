package ovndb

import (
	"cmp"
	"path/filepath"
)

// Paths are the directories of one unit's OVN.
type Paths struct {
	// Run has sockets and pid files, DB the databases, Etc the certificates.
	Run, DB, Etc string
	// Data has the schemas, Logs the logs. If one is empty, it is the packages' directory.
	Data, Logs string
	// Backups has the copies of the databases that an operator requested.
	Backups string
}

// PathsFromEnv reads OVN's own variables, with the packages' defaults, as /usr/share/ovn/scripts/ovn-lib does, so
// that several units can run on one machine. Backups is next to DB if a variable sets DB.
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

// Control returns the unixctl socket of the database's server.
func (p Paths) Control(d Database) string { return filepath.Join(p.Run, stem(d)+".ctl") }

// Socket returns the server's client socket. It has no TLS and no RBAC; only root can use it.
func (p Paths) Socket(d Database) string { return filepath.Join(p.Run, stem(d)+".sock") }

// PID returns the pid file of the database's server.
func (p Paths) PID(d Database) string { return filepath.Join(p.Run, stem(d)+".pid") }

// File returns the database file.
func (p Paths) File(d Database) string { return filepath.Join(p.DB, stem(d)+".db") }

// Schema returns the file with the schema of database d.
func (p Paths) Schema(d Database) string {
	return filepath.Join(cmp.Or(p.Data, "/usr/share/ovn"), "ovn-"+d.Short()+".ovsschema")
}

// Log returns the log of the database's server.
func (p Paths) Log(d Database) string {
	return filepath.Join(cmp.Or(p.Logs, "/var/log/ovn"), "ovsdb-server-"+d.Short()+".log")
}

// Defaults returns the file with options of ovn-ctl for the services' units (EnvironmentFile= in ovn-*.service). It
// is next to Etc, as /etc/default is next to /etc/ovn.
func (p Paths) Defaults() string {
	return filepath.Join(filepath.Dir(p.Etc), "default", string(Umbrella))
}

// Apt returns the directory of package sources. It is next to Etc, as /etc/apt is next to /etc/ovn.
func (p Paths) Apt() string { return filepath.Join(filepath.Dir(p.Etc), "apt") }

// NorthdParams returns the file with ovn-northd's arguments for ovn-ctl (ovn_northd_db_conf_file in ovn-ctl).
func (p Paths) NorthdParams() string { return filepath.Join(p.Etc, "ovn-northd-db-params.conf") }

// NorthdPID returns the file with the process ID of ovn-northd.
func (p Paths) NorthdPID() string { return filepath.Join(p.Run, string(Northd)+".pid") }

// Credentials are the files for connections over TLS in the services' configuration.
type Credentials struct{ Key, Certificate, CA string }

// Credentials returns the files of the unit's key and certificates, with the previous charm's names.
func (p Paths) Credentials() Credentials {
	return Credentials{
		Key:         filepath.Join(p.Etc, "key_host"),
		Certificate: filepath.Join(p.Etc, "cert_host"),
		CA:          filepath.Join(p.Etc, "ovn-central.crt"),
	}
}

// AgentUnit returns the file of the agent's systemd unit. It is next to Etc, as /etc/systemd is next to /etc/ovn.
func (p Paths) AgentUnit() string { return p.unit(string(Agent) + ".service") }

// BackupUnit returns the file of the systemd unit that makes a backup.
func (p Paths) BackupUnit() string { return p.unit(string(Backup) + ".service") }

// BackupTimer returns the file of the timer that starts BackupUnit.
func (p Paths) BackupTimer() string { return p.unit(string(BackupTimer)) }

func (p Paths) unit(name string) string {
	return filepath.Join(filepath.Dir(p.Etc), "systemd", "system", name)
}

// Findings returns the file with the findings of the unit's last hook.
func (p Paths) Findings() string { return filepath.Join(p.Run, "ovn-central-findings.json") }

// AgentConfig returns the agent's configuration file.
func (p Paths) AgentConfig() string { return filepath.Join(p.Etc, string(Agent)+".json") }

// AgentSocket returns the socket at which root of this machine requests operations on nodes.
func (p Paths) AgentSocket() string { return filepath.Join(p.Run, string(Agent)+".sock") }

// AgentProgram returns the program that systemd runs. It is a copy, since Juju replaces the charm's directory while
// programs run, and has its own directory next to DB.
func (p Paths) AgentProgram() string {
	return filepath.Join(filepath.Dir(p.DB), "ovn-central-operator", "ovn-central-operator")
}

// StartGuard returns the file with the units to ask before a server starts.
func (p Paths) StartGuard() string { return filepath.Join(p.Etc, "ovn-central-start-guard.json") }

// StartRefusal returns the file with the start guard's reason for not starting the database's server. The next boot
// removes it.
func (p Paths) StartRefusal(d Database) string {
	return filepath.Join(p.Run, "ovn-central-start-guard-"+d.Short()+".json")
}

// DropIn returns the file with the charm's additions to a unit of the packages (systemd.unit(5)).
func (p Paths) DropIn(s Service) string {
	return filepath.Join(p.unit(string(s)+".service.d"), "ovn-central-operator.conf")
}
