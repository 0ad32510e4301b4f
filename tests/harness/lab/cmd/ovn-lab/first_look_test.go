package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

const root = "../../../../.."

// typed is a command of the tutorial with its output.
type typed struct {
	command string
	shown   []string
}

func typedIn(text string) []typed {
	var all []typed
	for i, block := range strings.Split(text, "\n```") {
		if i%2 == 0 {
			continue
		}
		open := false // whether the block's last command is one of the lab
		for _, line := range strings.Split(block, "\n") {
			if command, found := strings.CutPrefix(line, "$ "); found {
				if command, open = strings.CutPrefix(command, "build/ovn-lab "); open {
					all = append(all, typed{command: command})
				}
			} else if open && line != "" {
				all[len(all)-1].shown = append(all[len(all)-1].shown, line)
			}
		}
	}
	return all
}

// identified matches a server in the output of cluster-status and of refusals: ID and address.
var identified = regexp.MustCompile(`\b([0-9a-f]{4})(?: \([^)]*\))? at (ssl:[0-9.]+:[0-9]+)`)

var identity = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// servers maps the tutorial's IDs to the lab's.
type servers struct {
	shown, seen map[string]string // the short ID at an address
	whole       map[string]string // the whole ID of a short one
}

func (s servers) learn(shown []string, seen string) {
	for _, line := range shown {
		for _, m := range identified.FindAllStringSubmatch(line, -1) {
			s.shown[m[1]] = m[2]
		}
	}
	for _, m := range identified.FindAllStringSubmatch(seen, -1) {
		s.seen[m[2]] = m[1]
	}
	for _, whole := range identity.FindAllString(seen, -1) {
		s.whole[whole[:4]] = whole
	}
}

func (s servers) translated(command string) string {
	return regexp.MustCompile(`(-identity=)([0-9a-f]{4})(\S*)`).ReplaceAllStringFunc(command, func(option string) string {
		name, id, _ := strings.Cut(option, "=")
		now := s.seen[s.shown[id[:4]]]
		if len(id) > 4 {
			now = s.whole[now]
		}
		return name + "=" + now
	})
}

// Which unit leads or works, and what is counted or measured, is another in each run.
var varies = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{identity, "ID"},
	{regexp.MustCompile(`\d{8}T\d{6}Z`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`ovn-central([-/])\d+\*?`), "ovn-central${1}N"},
	{regexp.MustCompile(`ssl:10\.99\.0\.\d+|\b10\.99\.0\.\d+`), "ADDRESS"},
	{regexp.MustCompile(`/\S*/ovn-central-N/db/`), "DIRECTORY/"},
	{regexp.MustCompile(`(leader: ovn[ns]b_db(, ovnsb_db)?|northd: active|; acts for gateways)(; )?`), ""},
	{regexp.MustCompile(`: (standby|active)( \(as of its last hook\))?$`), ": STATE"},
	{regexp.MustCompile(`acts for gateways.*`), "acts for gateways"},
	{regexp.MustCompile(`, (leader|follower)$`), ", ROLE"},
	{regexp.MustCompile(`\b(leader|follower|active|standby)(\s)`), "ROLE$2"},
	{regexp.MustCompile(`is down: .*`), "is down"},
	{regexp.MustCompile(`^  (Role|Term|Leader|Vote|Log|Connections|Disconnections|Entries not yet (committed|applied)):? .*`), "  $1"},
	{regexp.MustCompile(`( next_index=\d+ match_index=\d+)`), ""},
	{regexp.MustCompile(`\b[0-9a-f]{4}\b`), "ID"},
	{regexp.MustCompile(`\d+(\.\d+)?`), "N"},
	{regexp.MustCompile(`about N \(as of its last hook\)`), "N"},
	{regexp.MustCompile(`\(\s+`), "("},
	{regexp.MustCompile(` +`), " "},
}

// leaders matches the lines of cluster/status that only leaders have.
var leaders = regexp.MustCompile(`^  Last Election `)

func inCommon(line string) string {
	line = strings.TrimRight(line, "\n")
	for _, v := range varies {
		line = v.pattern.ReplaceAllString(line, v.as)
	}
	return strings.TrimSpace(line)
}

// The tutorial is run as written: each command prints each line that is shown, but for what varies.
func TestFirstLook_is_as_tutorial_shows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/tutorial/first-look.md"))
	require.NoError(t, err)
	commands := typedIn(string(text))
	require.Greater(t, len(commands), 20)

	s := newShell(t)
	charm := t.TempDir()
	require.NoError(t, lab.LayOut(t.Context(), charm, root, ""))
	t.Cleanup(func() {
		if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
			s.run("down")
		}
	})
	known := servers{map[string]string{}, map[string]string{}, map[string]string{}}
	for _, c := range commands {
		command := known.translated(strings.Replace(c.command, "build/charm", charm, 1))
		out, errs, code := s.try(command)
		seen := out + errs
		fails := strings.Contains(strings.Join(c.shown, "\n"), "\nERROR ")
		assert.Equal(t, fails, code != 0, "%s: %s", command, errs)
		known.learn(c.shown, seen)
		printed := map[string]bool{}
		for line := range strings.Lines(seen) {
			printed[inCommon(line)] = true
		}
		for _, line := range c.shown {
			if !strings.Contains(line, "…") && !leaders.MatchString(line) && !printed[inCommon(line)] {
				t.Errorf("%s: the tutorial shows %q, as which nothing was printed: %q", command, line, inCommon(line))
			}
		}
		if t.Failed() {
			t.Fatal(seen)
		}
	}
	assert.NoDirExists(t, s.dir)
}

func TestMain(m *testing.M) {
	lab.Intercept()
	os.Exit(m.Run())
}

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
