//go:build programs

package systemd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// The scripts of OVN's packages, which say where things are.
const (
	ovnLib = "/usr/share/ovn/scripts/ovn-lib"
	ovnCtl = "/usr/share/ovn/scripts/ovn-ctl"
)

// shell runs a script with these variables and PATH, and nothing else.
func shell(t *testing.T, env map[string]string, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for key, value := range env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(bytes.TrimSpace(out))
}

var environments = map[string]map[string]string{
	"nothing set":         {},
	"run directory":       {"OVN_RUNDIR": "/srv/u1/run"},
	"database directory":  {"OVN_DBDIR": "/srv/u1/db"},
	"configuration":       {"OVN_SYSCONFDIR": "/srv/u1/etc"},
	"all of them":         {"OVN_RUNDIR": "/a", "OVN_DBDIR": "/b", "OVN_SYSCONFDIR": "/c", "OVN_LOGDIR": "/d"},
	"database but no run": {"OVN_DBDIR": "/b", "OVN_SYSCONFDIR": "/c"},
	"logs only":           {"OVN_LOGDIR": "/d"},
	"unset by emptiness":  {"OVN_DBDIR": ""},
}

func TestDirectoriesAreThoseOfThePackages(t *testing.T) {
	t.Parallel()
	for name, env := range environments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ovndb.PathsFromEnv(func(key string) string { return env[key] })
			assert.Equal(t, shell(t, env, `set +u; . `+ovnLib+`; echo "$ovn_rundir $ovn_dbdir $ovn_etcdir"`),
				p.Run+" "+p.DB+" "+p.Etc)
		})
	}
}

func TestFilesAndSocketsAreThoseOfThePackages(t *testing.T) {
	t.Parallel()
	for name, env := range environments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ovndb.PathsFromEnv(func(key string) string { return env[key] })
			help := shell(t, env, ovnCtl+" --help || :") // its exit code means nothing
			for _, d := range ovndb.Databases() {
				for option, path := range map[string]string{
					"ctrl-sock": p.Control(d), "sock": p.Socket(d), "file": p.File(d),
				} {
					shown := regexp.MustCompile(`--db-` + d.Short() + `-` + option + `=.*\(default: (.*)\)`).FindStringSubmatch(help)
					require.Len(t, shown, 2, "ovn-ctl has the option")
					assert.Equal(t, shown[1], path, option)
				}
			}
		})
	}
}

func TestCredentialsStandInTheConfiguration(t *testing.T) {
	t.Parallel()
	c := ovndb.PathsFromEnv(func(string) string { return "" }).Credentials()
	assert.Equal(t, ovndb.Credentials{
		Key: "/etc/ovn/key_host", Certificate: "/etc/ovn/cert_host", CA: "/etc/ovn/ovn-central.crt",
	}, c)
	assert.Equal(t, filepath.Join("/x", "ovn", "key_host"),
		ovndb.PathsFromEnv(func(key string) string { return map[string]string{"OVN_SYSCONFDIR": "/x"}[key] }).Credentials().Key)
}

func TestFilesOfTheServicesAreThoseOfThePackages(t *testing.T) {
	t.Parallel()
	p := ovndb.PathsFromEnv(func(string) string { return "" })
	for _, unit := range []string{"ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"} {
		text, err := os.ReadFile("/lib/systemd/system/" + unit + ".service")
		require.NoError(t, err)
		assert.Contains(t, string(text), "EnvironmentFile=-"+p.Defaults()+"\n")
	}
	script, err := os.ReadFile(ovnCtl)
	require.NoError(t, err)
	assert.Contains(t, string(script), `ovn_northd_db_conf_file="$ovn_etcdir/`+filepath.Base(p.NorthdParams())+`"`)
	for name, env := range environments {
		p := ovndb.PathsFromEnv(func(key string) string { return env[key] })
		assert.Equal(t, shell(t, env, `set +u; . `+ovnLib+`; echo "$ovn_sysconfdir"`)+"/default/ovn-central", p.Defaults(), name)
		assert.Equal(t, p.Etc, filepath.Dir(p.NorthdParams()), name)
		assert.Equal(t, p.Run, filepath.Dir(p.NorthdPID()), name)
	}
	assert.Equal(t, "/etc/apt", p.Apt())
}

func TestSchemasAreThoseOfThePackages(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{{}, {"OVN_PKGDATADIR": "/srv/ovn"}} {
		p := ovndb.PathsFromEnv(func(key string) string { return env[key] })
		help := shell(t, env, ovnCtl+" --help || :")
		for _, d := range ovndb.Databases() {
			assert.Contains(t, help, "--db-"+d.Short()+"-schema=FILE  OVN_", "ovn-ctl has the option")
			assert.Contains(t, help, "(default: "+p.Schema(d)+")")
		}
	}
}

func TestDefaultsAreReadAsAShellAndOvnCtlReadThem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"defaults-leader.txt", "defaults-member-ipv6.txt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value := shell(t, nil, ". ./testdata/"+name+`; printf "%s\n" $OVN_CTL_OPTS`)
			assert.Len(t, systemd.ParseDefaults(golden(t, name)), len(strings.Split(value, "\n")))
			for line := range strings.SplitSeq(value, "\n") {
				option, wanted, _ := strings.Cut(strings.TrimPrefix(line, "--"), "=")
				assert.Equal(t, wanted, systemd.ParseDefaults(golden(t, name))[option], option)
			}
			// It would name an option that it does not know.
			said := shell(t, nil, ". ./testdata/"+name+"; "+ovnCtl+" $OVN_CTL_OPTS status_ovsdb 2>&1")
			assert.NotContains(t, said, "unknown option")
			said = shell(t, nil, ovnCtl+" --db-nb-no-such-thing=1 status_ovsdb 2>&1")
			assert.Contains(t, said, "unknown option", "this test can fail")
		})
	}
}
