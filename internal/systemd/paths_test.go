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

// Scripts of OVN's packages.
const (
	ovnLib = "/usr/share/ovn/scripts/ovn-lib"
	ovnCtl = "/usr/share/ovn/scripts/ovn-ctl"
)

// shell runs a script with these variables and PATH, and no others.
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
	"defaults":      {},
	"run_directory": {"OVN_RUNDIR": "/srv/u1/run"},
	"database":      {"OVN_DBDIR": "/srv/u1/db"},
	"configuration": {"OVN_SYSCONFDIR": "/srv/u1/etc"},
	"all":           {"OVN_RUNDIR": "/a", "OVN_DBDIR": "/b", "OVN_SYSCONFDIR": "/c", "OVN_LOGDIR": "/d"},
	"all_but_run":   {"OVN_DBDIR": "/b", "OVN_SYSCONFDIR": "/c"},
	"logs":          {"OVN_LOGDIR": "/d"},
	"empty":         {"OVN_DBDIR": ""},
}

func pathsOf(env map[string]string) ovndb.Paths {
	return ovndb.PathsFromEnv(func(key string) string { return env[key] })
}

// The packages' scripts agree about directories, files and sockets.
func TestPaths_agree_with_scripts(t *testing.T) {
	t.Parallel()
	for name, env := range environments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pathsOf(env)
			assert.Equal(t, shell(t, env, `set +u; . `+ovnLib+`; echo "$ovn_rundir $ovn_dbdir $ovn_etcdir"`),
				p.Run+" "+p.DB+" "+p.Etc)
			help := shell(t, env, ovnCtl+" --help || :") // its exit code has no meaning
			for _, d := range ovndb.Databases() {
				for option, path := range map[string]string{
					"ctrl-sock": p.Control(d), "sock": p.Socket(d), "file": p.File(d),
				} {
					form := regexp.MustCompile(`--db-` + d.Short() + `-` + option + `=.*\(default: (.*)\)`)
					shown := form.FindStringSubmatch(help)
					require.Len(t, shown, 2)
					assert.Equal(t, shown[1], path, option)
				}
			}
		})
	}
}

func TestCredentials_are_in_configuration(t *testing.T) {
	t.Parallel()
	assert.Equal(t, ovndb.Credentials{
		Key: "/etc/ovn/key_host", Certificate: "/etc/ovn/cert_host", CA: "/etc/ovn/ovn-central.crt",
	}, pathsOf(nil).Credentials())
	assert.Equal(t, "/x/ovn/key_host", pathsOf(map[string]string{"OVN_SYSCONFDIR": "/x"}).Credentials().Key)
}

func TestPaths_agree_with_units(t *testing.T) {
	t.Parallel()
	p := pathsOf(nil)
	for _, unit := range []string{"ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"} {
		text, err := os.ReadFile("/lib/systemd/system/" + unit + ".service")
		require.NoError(t, err)
		assert.Contains(t, string(text), "EnvironmentFile=-"+p.Defaults()+"\n")
	}
	script, err := os.ReadFile(ovnCtl)
	require.NoError(t, err)
	assert.Contains(t, string(script), `ovn_northd_db_conf_file="$ovn_etcdir/`+filepath.Base(p.NorthdParams())+`"`)
	for name, env := range environments {
		p := pathsOf(env)
		etc := shell(t, env, `set +u; . `+ovnLib+`; echo "$ovn_sysconfdir"`)
		assert.Equal(t, etc+"/default/ovn-central", p.Defaults(), name)
		assert.Equal(t, p.Etc, filepath.Dir(p.NorthdParams()), name)
		assert.Equal(t, p.Run, filepath.Dir(p.NorthdPID()), name)
	}
	assert.Equal(t, "/etc/apt", p.Apt())
}

func TestPaths_agree_about_schemas(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{{}, {"OVN_PKGDATADIR": "/srv/ovn"}} {
		p := pathsOf(env)
		help := shell(t, env, ovnCtl+" --help || :")
		for _, d := range ovndb.Databases() {
			assert.Contains(t, help, "--db-"+d.Short()+"-schema=FILE  OVN_")
			assert.Contains(t, help, "(default: "+p.Schema(d)+")")
		}
	}
}

func TestParseDefaults_agrees_with_ovn_ctl(t *testing.T) {
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
			said := shell(t, nil, ". ./testdata/"+name+"; "+ovnCtl+" $OVN_CTL_OPTS status_ovsdb 2>&1")
			assert.NotContains(t, said, "unknown option")
			said = shell(t, nil, ovnCtl+" --db-nb-no-such-thing=1 status_ovsdb 2>&1")
			assert.Contains(t, said, "unknown option")
		})
	}
}
