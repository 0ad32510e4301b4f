package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/cli"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// keep is a hook tool that records its calls as lines of the file calls.
const keep = `echo "${0##*/} $*" >>"$HERE/calls"`

// tools simulate a Juju whose unit has no relation.
var tools = map[string]string{
	"juju-log":    keep,
	"status-set":  keep,
	"action-set":  keep,
	"action-fail": keep,
	"action-log":  keep,
	"systemctl": keep + `
[ "$1" != show ] || for unit in ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central; do
	printf 'Id=%s.service\nLoadState=loaded\nActiveState=inactive\nUnitFileState=disabled\nMainPID=0\n\n' $unit
done`,
	"apt-get": keep,
	// Answers.
	"action-get":   `echo '{}'`,
	"relation-ids": `echo '[]'`,
	"goal-state":   `echo '{"units":{"ovn-central/0":{"status":"active"}}}'`,
	"is-leader":    `echo true`,
	"config-get":   `echo '{"source":"distro"}'`,
	"leader-get":   `echo '{}'`,
	"network-get":  `echo '{"bind-addresses":[{"addresses":[{"value":"10.0.0.1","cidr":"10.0.0.0/24"}]}]}'`,
	"dpkg-query":   `echo ovn-central installed 23.03.1-1`,
	// The results of these are not used.
	"application-version-set": `:`,
}

// environment is the environment of a hook: it has neither HOME nor USER.
type environment map[string]string

func (e environment) getenv(key string) string { return e[key] }

// prepare puts only hook tools in PATH, and removes variables that hooks do not have from the environment.
func prepare(t *testing.T) (env environment, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range tools {
		text := "#!/bin/sh\nset -u\nHERE='" + dir + "'\n" + script + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, key := range []string{"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(key, "") // restores it at the end of the test
		require.NoError(t, os.Unsetenv(key))
	}
	return environment{
		"JUJU_UNIT_NAME": "ovn-central/0", "JUJU_VERSION": "3.6.11", "JUJU_CONTEXT_ID": "x",
		"OVN_RUNDIR": filepath.Join(dir, "run"), "OVN_DBDIR": filepath.Join(dir, "db"),
		"OVN_SYSCONFDIR": filepath.Join(dir, "etc"),
	}, dir
}

// called returns the recorded calls.
func called(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}

func mainOf(t *testing.T, env environment, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Main(t.Context(), args, env.getenv, &out, &err)
	return code, out.String(), err.String()
}

func TestMain_unknown_hook_succeeds(t *testing.T) {
	env, dir := prepare(t)
	env["JUJU_DISPATCH_PATH"] = "hooks/collect-metrics"
	code, stdout, stderr := mainOf(t, env, "/charm/dispatch")
	assert.Equal(t, 0, code)
	assert.Regexp(t, "^juju-log -l INFO -- [^\n]+ hook=collect-metrics\n$", called(t, dir))
	assert.Empty(t, stdout+stderr)
}

func TestMain_hook_without_HOME(t *testing.T) {
	env, dir := prepare(t)
	env["JUJU_DISPATCH_PATH"] = "hooks/update-status"
	code, _, stderr := mainOf(t, env, "/charm/dispatch")
	assert.Equal(t, 0, code, stderr)
	assert.Regexp(
		t, "status-set -- blocked 'certificates' .* juju integrate ovn-central:certificates vault\n", called(t, dir),
	)
}

func TestMain_action_without_HOME(t *testing.T) {
	env, dir := prepare(t)
	env["JUJU_DISPATCH_PATH"] = "actions/cluster-status"
	code, _, stderr := mainOf(t, env, "/charm/dispatch")
	assert.Equal(t, 0, code, stderr)
	assert.Contains(t, called(t, dir), "OVN_Northbound: "+observe.ServerState{Condition: ovndb.Absent}.Text())
}

func TestMain_refused_action_exits_0(t *testing.T) {
	env, dir := prepare(t)
	code, stdout, stderr := mainOf(t, env, "/charm/dispatch", "action", "kick")
	assert.Equal(t, 0, code)
	assert.Regexp(t, `action-fail -- .*\bunit\b`, called(t, dir))
	assert.Empty(t, stdout+stderr)
}

func TestMain_failed_hook_logs_each_line(t *testing.T) {
	env, dir := prepare(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "systemctl"), []byte("#!/bin/sh\necho Access denied >&2; exit 4\n"),
		0o755))
	code, _, stderr := mainOf(t, env, "/charm/dispatch", "hook", "stop")
	assert.Equal(t, 1, code)
	assert.Regexp(t, `juju-log -l ERROR -- .*\bstop\b.*: systemctl: Access denied\n`, called(t, dir))
	assert.Empty(t, stderr, "Juju writes that to the same log")
}

// An invalid command line prints one line, which names the mistake, and does nothing.
func TestMain_usage_errors(t *testing.T) {
	env, dir := prepare(t)
	for line, names := range map[string]string{
		"/charm/dispatch":                                   "JUJU_DISPATCH_PATH",
		"ovn-central-operator --frobnicate":                 "--frobnicate",
		"ovn-central-operator hook stop --force":            "--force",
		"ovn-central-operator hook":                         "NAME",
		"ovn-central-operator hook stop start":              `"stop start"`,
		"ovn-central-operator action":                       "NAME",
		"ovn-central-operator action kcik":                  `"kcik"`,
		"ovn-central-operator version x":                    `"x"`,
		"ovn-central-operator frobnicate":                   `"frobnicate"`,
		"ovn-central-operator nodes frobnicate":             "ovn-central-operator nodes --help",
		"ovn-central-operator drain x":                      "nodes drain?",
		"ovn-central-operator nodes show":                   "nodes show NODE",
		"ovn-central-operator gateways history a b":         `[PLAN], not "a b"`,
		"ovn-central-operator nodes drain x --timeout=soon": "90s",
		"ovn-central-operator nodes drain x --sb=":          "--sb",
		"ovn-gateways stat":                                 "status?",
		"ovn-gateways help stat":                            "status?",
		"ovn-gateways nodes help drian":                     "drain?",
		"ovn-gateways frobnicate":                           `"frobnicate"`,
		"ovn-gateways drain x":                              "nodes drain?",
		"ovn-gateways revert x":                             "rebalance --revert?",
		"ovn-gateways rebalance --revert --dry-run":         "--revert, not the flag --dry-run; ovn-gateways",
		"ovn-gateways nodes lst":                            "list?",
		"ovn-gateways nodes lst --help":                     "list?",
		"ovn-gateways status --nb=tcp:10.0.0.5":             `--nb "tcp:10.0.0.5"`,
		"ovn-gateways status --nb=tcp:10.0.0.5:66411":       `--nb "tcp:10.0.0.5:66411"`,
		"ovn-gateways status --nb=tcp:10.0.0.5:ovn":         `--nb "tcp:10.0.0.5:ovn"`,
		"ovn-gateways status -o xml":                        `--output "xml"`,
		"ovn-gateways status --format=xml":                  `--output "xml"`,
		"ovn-gateways status --nb=ssl:h:1":                  "--private-key",
		"ovn-gateways plan reblance":                        `[rebalance|reschedule], not "reblance"`,
		"ovn-gateways plan --picture=":                      "--picture",
		"ovn-gateways plan --picture -":                     "--picture",
		"ovn-gateways plan --picture plan.png":              "plan.svg",
		"ovn-gateways plan --picture --max-moves":           "--picture, not the flag --max-moves",
		"ovn-gateways plan --max-moves x":                   `--max-moves "x": `,
		"ovn-gateways plan --seed -1":                       `--seed "-1": `,
		"ovn-gateways plan --scheduler random":              "--max-moves and --allow-new-candidates, not --scheduler",
		"ovn-gateways plan reschedule --max-moves=1":        "--scheduler and --seed, not --max-moves",
		"ovn-gateways rebalance --yes --revert=":            "--revert",
		"ovn-gateways rebalance --yes --review-id=":         "--review-id",
		"ovn-gateways rebalance --target-revision=":         "--target-revision",
		"ovn-gateways rebalance --nb=":                      "--nb",
		"ovn-gateways rebalance --scheduler random":         "--scheduler; ovn-gateways rebalance --help",
		"ovn-gateways reschedule --allow-new-candidates":    "--allow-new-candidates; ovn-gateways reschedule --help",
		"ovn-gateways reschedule --network x --network=":    "--network",
		"ovn-gateways reschedule --seed=7":                  "--seed",
		// Commands that change nothing have no flags for changes.
		"ovn-gateways status --yes":         "--yes",
		"ovn-gateways status --max-moves=1": "--max-moves",
		"ovn-gateways history --seed=3":     "--seed",
		"ovn-gateways history --dry-run":    "--dry-run",
		// The error is about the file that the flag names.
		"ovn-gateways status --nb=ssl:h:1 --sb=ssl:h:2 --private-key=/nope --certificate=c --ca-cert=d": "--private-key: ",
		"ovn-gateways status --nb=ssl:h:1 --sb=ssl:h:2 --private-key=/dev/null --certificate=/dev/null " +
			"--ca-cert=/dev/null": "--certificate /dev/null and --private-key /dev/null: ",
	} {
		code, stdout, stderr := mainOf(t, env, strings.Fields(line)...)
		assert.Equal(t, 2, code, line)
		assert.Contains(t, stderr, "error: ", line)
		assert.Contains(t, stderr, names, line)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
		assert.Empty(t, stdout, line)
	}
	assert.Empty(t, called(t, dir), "nothing was done")
}

// The databases are those of this machine, or of OVN's own variables, unless flags name others. A plain number means
// seconds, as in the actions.
func TestDatabases_default_to_this_machine(t *testing.T) {
	const both = `--nb \S+ OVN_NB_DB, \S+ --sb \S+ OVN_SB_DB\)\n$`
	const onlySB = `unix:/here: connect: .*; OVN_Southbound .* --sb \S+ OVN_SB_DB\)\n$`
	const onlyNB = `unix:/nowhere/ovnnb_db.sock: connect: .*; OVN_Northbound .* --nb \S+ OVN_NB_DB\)\n$`
	for name, test := range map[string]struct{ nb, sb, args, says string }{
		"this machine":         {args: "list", says: "unix:/nowhere/ovnnb_db.sock: connect: "},
		"neither is named":     {args: "list", says: both},
		"NB is named":          {args: "list --nb=unix:/here", says: onlySB},
		"SB is named":          {sb: "unix:/elsewhere", args: "list", says: onlyNB},
		"both are named":       {sb: "unix:/elsewhere", args: "list --nb=unix:/here", says: `unix:/here: connect: [^-;]*\)\n$`},
		"variable":             {nb: "unix:/elsewhere", args: "list", says: "unix:/elsewhere: connect: "},
		"flag before variable": {nb: "unix:/elsewhere", args: "list --nb=unix:/here", says: "unix:/here: connect: "},
		"bad variable":         {sb: "garbage", args: "list", says: `OVN_SB_DB "garbage"`},
		"negative":             {args: "drain x --grace-period=-1s", says: "90s, 15m, 1h30m"},
		"seconds":              {args: "drain x --timeout=90 --grace-period=2m", says: " timeout 90"},
	} {
		t.Run(name, func(t *testing.T) {
			env, _ := prepare(t)
			env["OVN_RUNDIR"], env["OVN_NB_DB"], env["OVN_SB_DB"] = "/nowhere", test.nb, test.sb
			code, stdout, stderr := mainOf(t, env, strings.Fields("ovn-central-operator nodes "+test.args)...)
			assert.NotZero(t, code)
			assert.Regexp(t, test.says, stderr)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "once: %q", stderr)
			assert.Empty(t, stdout)
		})
	}
}

// On a machine without databases every command's error has a remedy.
func TestDatabases_absent_error_has_remedy(t *testing.T) {
	env, _ := prepare(t)
	env["OVN_RUNDIR"] = "/nowhere"
	for _, command := range []string{
		"gateways status", "gateways plan", "gateways rebalance --yes", "gateways reschedule", "gateways history",
		"gateways revisions",
		"nodes list", "nodes show x", "nodes cordon x", "nodes drain x", "nodes undrain x", "nodes remove x",
		"nodes remove x -o json", "nodes list -o json", "gateways status -o json", "gateways plan -o json",
		"gateways rebalance --yes -o json", "gateways history -o json", "gateways revisions -o json",
	} {
		code, stdout, stderr := mainOf(t, env, append([]string{"ovn-central-operator"}, strings.Fields(command)...)...)
		assert.Equal(t, 1, code, command)
		assert.Regexp(t, `--nb \S+ OVN_NB_DB, \S+ --sb \S+ OVN_SB_DB`, stdout+stderr, command)
		if strings.HasSuffix(command, "json") {
			var said answer.Status
			require.NoError(t, json.Unmarshal([]byte(stdout), &said), command)
			assert.Equal(t, answer.ClusterNotAccessible, said.Reason, command)
		}
	}
}

// An empty name comes from an unset variable, and does not mean all nodes.
func TestNodes_empty_name_is_refused(t *testing.T) {
	env, _ := prepare(t)
	code, stdout, stderr := mainOf(t, env, "ovn-central-operator", "nodes", "show", "")
	assert.Equal(t, 2, code)
	assert.Contains(t, stdout+stderr, "error: ")
}

func TestMain_help_and_version_on_stdout(t *testing.T) {
	env, _ := prepare(t)
	for line, has := range map[string]string{
		"x --help":      "Usage:",
		"x help":        "Usage:",
		"x hook --help": "Usage:",
		"x help action": "Usage:",
		"x help hook":   "\n  ovsdb-peer-relation-departed\n",
		// A group without a command lists its commands.
		"ovn-gateways":       "Available Commands:",
		"ovn-gateways nodes": "Available Commands:",
		"x":                  "Available Commands:",
		"x gateways":         "Available Commands:",
		// Every command has these sections.
		"x gateways status --help":      "\nExit status:\n  0 ",
		"x nodes help drain":            "nodes drain NODE [flags]",
		"x nodes help":                  "Usage:",
		"ovn-gateways nodes help drain": "nodes drain NODE [flags]",
		"x nodes drain --help":          "\nSee also:\n  Documents   " + version.Docs + "how-to/take-a-node-out.html",
		"x agent --help":                "/issues",
		"x start-guard --help":          "\nExit status:\n  0 ",
		"ovn-gateways plan --help":      "\nEnvironment:\n  OVN_NB_DB ",
		"ovn-gateways --version":        "ovn-gateways version " + version.Version + "\n",
		"x version":                     version.Version + "\n",
		"x version -o yaml":             "version: " + version.Version + "\n",
		"ovn-gateways version -o json":  "{\n  \"version\": \"" + version.Version + "\"\n}\n",
		"ovn-gateways -o yaml version":  "version: " + version.Version + "\n",
	} {
		code, stdout, stderr := mainOf(t, env, strings.Fields(line)...)
		assert.Equal(t, 0, code, line)
		assert.Contains(t, stdout, has, line)
		assert.Empty(t, stderr, line)
	}
}

func TestMain_hook_without_Juju_names_tool(t *testing.T) {
	env, dir := prepare(t)
	for name := range tools {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
	t.Setenv("PATH", dir)
	code, _, stderr := mainOf(t, env, "x", "hook", "update-status")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "goal-state: ")
}

func TestMain_interrupted_hook_exit_code(t *testing.T) {
	env, dir := prepare(t)
	started := filepath.Join(dir, "started")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "goal-state"),
		[]byte("#!/bin/sh\n: >'"+started+"'\nexec sleep 60\n"), 0o755))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				return
			}
			<-time.After(5 * time.Millisecond)
		}
	}()
	begun := time.Now()
	var out bytes.Buffer
	assert.Equal(t, 130, cli.Main(ctx, []string{"x", "hook", "update-status"}, env.getenv, &out, &out))
	assert.Less(t, time.Since(begun), 20*time.Second)
}

// An interrupted command prints nothing about a server that hangs.
func TestMain_interrupted_question(t *testing.T) {
	env, dir := prepare(t)
	silent, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "silent.sock"))
	require.NoError(t, err)
	defer silent.Close()
	env["OVN_NB_DB"], env["OVN_SB_DB"] = "unix:"+silent.Addr().String(), "unix:"+silent.Addr().String()
	for _, command := range []string{"status", "nodes list"} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		var stdout, stderr bytes.Buffer
		code := cli.Main(ctx, append([]string{"ovn-gateways"}, strings.Fields(command)...), env.getenv, &stdout, &stderr)
		assert.Equal(t, 130, code, command)
		assert.Equal(t, "error: interrupted\n", stderr.String(), command)
		assert.Empty(t, stdout.String(), command)
	}
}
