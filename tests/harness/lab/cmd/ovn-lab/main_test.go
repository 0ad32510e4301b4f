package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	intercept()
	os.Exit(m.Run())
}

// shell runs ovn-lab commands against one lab.
type shell struct {
	t   *testing.T
	dir string
}

func newShell(t *testing.T) shell {
	dir, err := os.MkdirTemp("", "ovn-lab-cli-") //nolint:usetesting // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return shell{t, filepath.Join(dir, "lab")}
}

func (s shell) try(command string) (stdout, stderr string, code int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	code = run(ctx, &global{}, append([]string{"--dir", s.dir}, strings.Fields(command)...), &out, &errs)
	return out.String(), errs.String(), code
}

func (s shell) run(command string) string {
	s.t.Helper()
	out, errs, code := s.try(command)
	require.Equal(s.t, 0, code, "%s: %s", command, errs)
	return out
}

// up makes the lab with the test charm and scripts.
func (s shell) up(scripts map[string]string, options string) {
	s.t.Helper()
	charm := s.t.TempDir()
	require.NoError(s.t, os.CopyFS(charm, os.DirFS("../../testdata/charm")))
	for name, text := range scripts {
		require.NoError(s.t, os.WriteFile(filepath.Join(charm, "on-"+name), []byte(text), 0o644))
	}
	s.run("up --charm " + charm + " " + options)
	s.t.Cleanup(func() {
		if _, err := os.Stat(s.dir); err == nil {
			s.run("down")
		}
	})
}

func TestStoryOfALab(t *testing.T) {
	s := newShell(t)
	s.up(map[string]string{
		"start": "status-set active \"$JUJU_UNIT_NAME is ready\"",
		"stop":  "[ -e allowed ]",
		"show":  `action-log looking; action-set ovnsb.id="$(action-get --format=json | grep -o '[0-9]*')" lines="a` + "\n" + `b"; echo printed`,
		"run":   "action-fail \"it is no good\"",
	}, "-n 2")

	assert.Regexp(t, `^Unit            Workload  Agent  Address +Servers      Message
ovn-central/0\*  active    idle   10\.99\.0\.10  nb:up sb:up  ovn-central/0 is ready
ovn-central/1   active    idle   10\.99\.0\.11  nb:up sb:up  ovn-central/1 is ready
$`, s.run("status"))

	assert.Equal(t, "Running operation 1 with 1 task\n  - task 1 on unit-ovn-central-0\n\nlooking\nlines: |-\n  a\n  b\novnsb:\n  id: \"15\"\n\nprinted\n",
		s.run("run ovn-central/0 show sb-identity=0017"))
	out, errs, code := s.try("run ovn-central/0 run")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "Action id 2 failed: it is no good\n")
	assert.Equal(t, "ERROR the task failed\n", errs)

	s.run("kill ovn-central/1 sb")
	assert.Contains(t, s.run("status"), "nb:up sb:down")
	s.run("start ovn-central/1 sb")
	s.run("hang ovn-central/1 sb")
	s.run("resume ovn-central/1 sb")
	s.run("stop ovn-central/1 nb")
	assert.Contains(t, s.run("status"), "nb:down sb:up")
	s.run("start ovn-central/1 nb")

	_, errs, code = s.try("remove-unit ovn-central/0")
	assert.Equal(t, 1, code)
	assert.Equal(t, "ERROR ovn-central/0: hook failed: \"stop\" (exit code 1)\n", errs)
	assert.Regexp(t, `ovn-central/0\*  error     idle .*  \(dying\) hook failed: "stop"\n`, s.run("status"))
	_, _, code = s.try("resolved ovn-central/0")
	assert.Equal(t, 1, code)
	s.run("resolved --no-retry ovn-central/0")
	assert.NotContains(t, s.run("status"), "ovn-central/0")
	assert.Contains(t, s.run("status"), "ovn-central/1*")

	s.run("power-off ovn-central/1")
	assert.Contains(t, s.run("status"), "lost")
	s.run("power-on ovn-central/1")
	s.run("remove-unit --force ovn-central/1")
	s.run("add-unit")
	assert.Contains(t, s.run("status"), "ovn-central/2*")
	s.run("config interval=7")
	s.run("update-status")
	s.run("exec-hook ovn-central/2 config-changed")
	s.run("down")
	assert.NoDirExists(t, s.dir)
}

func TestErrorsAreOneLineAndHaveTheirCode(t *testing.T) {
	s := newShell(t)
	tests := map[string]struct {
		code int
		err  string
	}{
		"status":                  {1, "ERROR cannot open the lab: there is none in " + s.dir},
		"down":                    {1, "ERROR cannot open the lab: there is none in " + s.dir},
		"up":                      {2, "ERROR usage: ovn-lab up --charm DIR"},
		"up --charm /nonexistent": {1, "ERROR cannot read the charm: stat /nonexistent/dispatch: no such file or directory"},
		"frob":                    {2, `ERROR unknown command "frob"; ovn-lab --help lists them`},
		"--frob":                  {2, "ERROR unknown flag: --frob"},
		"kill ovn-central/0":      {2, "ERROR usage: ovn-lab kill UNIT nb|sb"},
		"kill ovn-central/0 xb":   {2, `ERROR "xb" is no database: nb or sb`},
		"run ovn-central/0":       {2, "ERROR usage: ovn-lab run UNIT ACTION [KEY=VALUE...]"},
		"config x":                {2, `ERROR expected KEY=VALUE, got "x"`},
		"remove-unit a b":         {2, "ERROR usage: ovn-lab remove-unit UNIT"},
	}
	for command, test := range tests {
		t.Run(command, func(t *testing.T) {
			_, errs, code := s.try(command)
			assert.Equal(t, test.code, code)
			assert.Equal(t, test.err+"\n", errs)
		})
	}
	s.up(nil, "")
	_, errs, code := s.try("remove-unit ovn-central/7")
	assert.Equal(t, 1, code)
	assert.Equal(t, "ERROR unit \"ovn-central/7\" not found\n", errs)
	assert.Contains(t, s.run("--help"), "EXIT STATUS")
}

func TestInterruptedCommandEndsItsHookAndKeepsTheLab(t *testing.T) {
	s := newShell(t)
	s.up(map[string]string{"update-status": "touch ../running; sleep 60"}, "-n 1")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		running := filepath.Join(s.dir, "ovn-central-0", "running")
		assert.Eventually(t, func() bool { _, err := os.Stat(running); return err == nil }, 2*time.Minute, 10*time.Millisecond)
		cancel()
	}()
	var out, errs bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, &global{}, []string{"--dir", s.dir, "update-status"}, &out, &errs))
	assert.Contains(t, errs.String(), "hook was killed")
	assert.Contains(t, s.run("status"), "ovn-central/0*")
}
