package lab

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

const inactivityProbe = 60000

// layOut prepares the machine as the Python charm leaves it before it starts the services: with certificates and
// options of ovn-ctl, and nothing masked. The sources are src/lib/charm/openstack/ovn_central.py and the templates
// beside it.
func (u *Unit) layOut(ctx context.Context) error {
	if err := u.installCredentials(); err != nil {
		return err
	}
	if err := os.WriteFile(u.Machine.Defaults(), []byte(u.defaults()), 0o644); err != nil {
		return fmt.Errorf("cannot lay out %s: %w", u.name, err)
	}
	_, code, err := u.Systemctl(ctx, "--quiet", "unmask", machine.Umbrella, NB.Service(), SB.Service())
	if err != nil || code != 0 {
		return fmt.Errorf("cannot unmask the services of %s: exit code %d: %w", u.name, code, err)
	}
	return nil
}

// defaults returns the options of ovn-ctl, in the layout of the Python charm's template: continued lines, one option
// each. Only Juju's leader has no remote address, so that ovn-ctl there may create a cluster.
func (u *Unit) defaults() string {
	remote := ""
	if u.lab.Leader() != u {
		for _, other := range u.lab.Units() {
			if other != u {
				remote = other.Address()
				break
			}
		}
	}
	files := own(u.Machine)
	var lines []string
	for _, db := range Databases {
		for _, option := range [][2]string{
			{"db-" + string(db) + "-cluster-local-addr", u.Address()},
			{"db-" + string(db) + "-cluster-local-port", fmt.Sprint(db.RaftPort())},
			{"db-" + string(db) + "-cluster-local-proto", "ssl"},
			{"ovn-" + string(db) + "-db-ssl-key", files.Key},
			{"ovn-" + string(db) + "-db-ssl-cert", files.Certificate},
			{"ovn-" + string(db) + "-db-ssl-ca-cert", files.CA},
			{"db-" + string(db) + "-cluster-remote-addr", remote},
			{"db-" + string(db) + "-cluster-remote-port", fmt.Sprint(db.RaftPort())},
			{"db-" + string(db) + "-cluster-remote-proto", "ssl"},
		} {
			lines = append(lines, "    --"+option[0]+"="+option[1])
		}
	}
	return "# Configuration file maintained by Juju. Local changes may be overwritten.\nOVN_CTL_OPTS= \\\n" + strings.Join(lines, " \\\n") + "\n"
}

func (u *Unit) northdParams() string {
	files := own(u.Machine)
	return fmt.Sprintf("--ovnnb-db=%s\n--ovnsb-db=%s\n-c %s\n-C %s\n-p %s\n",
		u.lab.Remotes(NB), u.lab.Remotes(SB), files.Certificate, files.CA, files.Key)
}

// listen makes the Connection rows of a database that the unit has just created, with roles.
func (u *Unit) listen(ctx context.Context, db DB) error {
	args := []string{
		"--timeout=10", "--db=unix:" + u.Machine.Socket(db), fmt.Sprintf("--inactivity-probe=%d", inactivityProbe),
		"set-connection", fmt.Sprintf("pssl:%d", db.ClientPort()),
	}
	if db == SB {
		args = append(args, "role=ovn-controller", fmt.Sprintf("pssl:%d", machine.ChassisPort))
	}
	_, err := u.Exec(ctx, "ovn-"+string(db)+"ctl", args...)
	return err
}

// announce sets the leader settings of the Python charm, once there are clusters and before any hook.
func (u *Unit) announce(ctx context.Context) error {
	settings := map[string]string{"ready": "True", "install_stamp": "2203"}
	for _, db := range Databases {
		cid, err := u.tool(ctx, "db-cid", u.DBFile(db))
		if err != nil {
			return err
		}
		settings[string(db)+"_cid"] = cid
	}
	u.lab.model.Do(func(s *model.State) {
		for key, value := range settings {
			if s.LeaderSettings[key] == "" {
				s.LeaderSettings[key] = value
			}
		}
	})
	return nil
}

// refreshNorthd writes the members into the file that ovn-ctl reads, and restarts each ovn-northd whose file changed.
func (l *Lab) refreshNorthd(ctx context.Context) error {
	for _, u := range slices.DeleteFunc(l.Units(), func(u *Unit) bool { return u.Machine.Bare || !u.Running(NB) }) {
		file, params := u.Machine.NorthdParams(), u.northdParams()
		if old, _ := os.ReadFile(file); string(old) == params {
			continue
		}
		if err := os.WriteFile(file, []byte(params), 0o644); err != nil {
			return fmt.Errorf("cannot set up ovn-northd: %w", err)
		}
		if !l.o.Northd {
			continue
		}
		if _, code, err := u.Systemctl(ctx, "restart", machine.Northd); err != nil || code != 0 {
			return fmt.Errorf("cannot restart ovn-northd on %s: exit code %d: %w", u.name, code, err)
		}
	}
	return nil
}
