package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

// Every operation that leaves the clusters first stops the agent, through package membership's field.
func TestUnit_leaving_stops_agent(t *testing.T) {
	t.Parallel()
	require.NotNil(t, unit(func(string) string { return "" }, io.Discard).Members.BeforeLeaving)
}

// A shell parses the printed command into the same arguments, including names with spaces and quotes.
func TestGateways_printed_commands_can_be_pasted(t *testing.T) {
	t.Parallel()
	f := databaseFlags{program: GatewaysName, typed: [][2]string{{"--nb", "ssl:10.0.0.5:6641"}}}
	f.credentials.Key = "/root/my keys/$HOME's.pem"
	nodes, gateways := nodeFlags{databaseFlags: f}, gatewayFlags{databaseFlags: f}
	for printed, words := range map[string][]string{
		nodes.next(act("remove-node", "node", "compute 3 <x>", "i-really-mean-it", "true")): {
			GatewaysName, "remove", "compute 3 <x>", "--nb", "ssl:10.0.0.5:6641", "--private-key", f.credentials.Key, "--yes",
		},
		gateways.undo("p1"): {
			GatewaysName, "rebalance", "--revert", "p1", "--nb", "ssl:10.0.0.5:6641", "--private-key",
			f.credentials.Key, "--yes",
		},
	} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\\n' "+printed).Output()
		require.NoError(t, err, printed)
		assert.Equal(t, strings.Join(words, "\n")+"\n", string(out))
	}
}

// A program reads one document on standard output, in the requested form.
func TestAnswer_in_requested_form(t *testing.T) {
	d := map[string]string{"unit": "ovn-central/0"}
	for output, want := range map[string]string{
		"text": "in words\n", "yaml": "unit: ovn-central/0\n",
		"json": "{\n  \"unit\": \"ovn-central/0\"\n}\n",
	} {
		f := databaseFlags{output: output, getenv: func(string) string { return "" }}
		require.NoError(t, f.complete(), output)
		var out bytes.Buffer
		require.NoError(t, show(&out, f.output, d, func(map[string]string) string { return "in words" }))
		assert.Equal(t, want, out.String())
	}
}

// S15: the printed command names the node or hold of another client, with any name, and does nothing else.
func TestGateways_printed_commands_name_databases(t *testing.T) {
	t.Parallel()
	for _, name := range shelltest.Hostile {
		f := nodeFlags{databaseFlags: databaseFlags{
			program: "ovn-central-operator nodes", typed: [][2]string{{"--nb", "unix:" + name}},
		}}
		words := shelltest.Words(t,
			f.next(act("release", "node", "chassis:"+name, "name", name, "i-really-mean-it", "true", "dry-run", "true")))
		require.Equal(t, []string{"ovn-central-operator", "nodes", "release"}, words[:3])
		flags := pflag.NewFlagSet("release", pflag.ContinueOnError)
		nb, yes, dry := flags.String("nb", "", ""), flags.Bool("yes", false, ""), flags.Bool("dry-run", false, "")
		require.NoError(t, flags.Parse(words[3:]), "%q", words)
		assert.Equal(t, []string{"chassis:" + name, name}, flags.Args())
		assert.Equal(t, "unix:"+name, *nb)
		assert.True(t, *yes && *dry)
	}
	f := nodeFlags{databaseFlags: databaseFlags{program: "ovn-central-operator nodes"}}
	assert.Equal(t, "ovn-central-operator nodes uncordon --yes -- --yes",
		f.next(act("uncordon", "node", "--yes", "i-really-mean-it", "true")))
}

// act returns an action with pairs of a parameter and its value.
func act(name string, given ...string) command.Command {
	c := command.Command{Action: name}
	for pair := range slices.Chunk(given, 2) {
		c.Params = append(c.Params, command.Param{Key: pair[0], Value: pair[1]})
	}
	return c
}

// lockedBuffer can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The command that a dry run prints has the flags that determine the plan.
func TestReviewed(t *testing.T) {
	t.Parallel()
	f := &gatewayFlags{databaseFlags: databaseFlags{program: "ovn-gateways"}}
	p := schedule.Plan{Operation: "rebalance", ReviewID: "0-1a"}
	rebalance, plan := newRebalance(f), newPlan(f)
	require.NoError(t, rebalance.ParseFlags([]string{"--dry-run", "--revert", "g1", "--network", "a", "--network", "b"}))
	assert.Equal(t, "ovn-gateways rebalance --network=a --network=b --revert=g1 --review-id 0-1a",
		f.reviewed(rebalance, p))
	p.Cost.Interruptions = 1
	require.NoError(t, plan.ParseFlags([]string{"--max-moves", "3", "--picture", "p.svg"}))
	assert.Equal(t, "ovn-gateways rebalance --max-moves=3 --review-id 0-1a --yes", f.reviewed(plan, p))
}

func TestReassure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		advance := time.Sleep // the clock of the bubble
		var stderr, out lockedBuffer
		waited := func() []string { return regexp.MustCompile(`\d+ s\b`).FindAllString(stderr.String(), -1) }
		say, end := reassure(&stderr, &out, "asking")
		advance(patience - time.Millisecond)
		assert.Empty(t, stderr.String(), "fast commands print nothing")
		advance(2 * time.Millisecond)
		assert.Equal(t, []string{"2 s"}, waited())
		assert.Contains(t, stderr.String(), "asking")
		advance(pause)
		assert.Equal(t, []string{"2 s", "12 s"}, waited())
		say("1 of 2")
		assert.Equal(t, "1 of 2\n", out.String())
		advance(pause + time.Millisecond)
		assert.Equal(t, []string{"2 s", "12 s", "22 s"}, waited())
		end()
		advance(time.Minute)
		assert.Equal(t, "1 of 2\n", out.String())
		assert.Len(t, waited(), 3)
	})
}

// loaded returns the configuration of a file and flags.
func loaded(t *testing.T, file string, flags ...string) (config.Config, error) {
	t.Helper()
	f, cmd := newAgentFlags(), new(cobra.Command)
	f.define(cmd.Flags())
	if file != "" {
		path := filepath.Join(t.TempDir(), "agent.json")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		flags = append(flags, "--config", path)
	}
	require.NoError(t, cmd.ParseFlags(flags))
	return f.load(cmd)
}

func TestAgent_flags_override_file(t *testing.T) {
	t.Parallel()
	file := config.Config{
		Unit: "file/0", Mode: config.Off, NB: []string{"unix:/file/nb"}, SB: []string{"unix:/file/sb"}, TTL: 9 * time.Second,
		HoldDown:        time.Minute,
		NeutronGateways: true, CordonNew: true, Northd: true, Listen: "127.0.0.1:1", PeerListen: "127.0.0.1:2",
		Peers: []string{"127.0.0.1:3"}, Socket: "/file/socket",
		Key: "/file/key", Certificate: "/file/certificate", CA: "/file/ca", Backups: "/file/backups",
		BackupInterval: time.Hour, Generation: "file",
	}
	c, err := loaded(t, string(file.Render()))
	require.NoError(t, err)
	assert.Equal(t, file, c)
	c, err = loaded(t, string(file.Render()), "--unit", "typed/0", "--mode", "on", "--nb", "unix:/typed/nb", "--sb",
		"unix:/typed/sb", "--lease-ttl", "3s", "--hold-down", "5",
		"--schedule-neutron-gateways=false", "--cordon-new-chassis=false", "--northd=false", "--listen", "127.0.0.1:11",
		"--peer-listen", "127.0.0.1:12", "--peer", "127.0.0.1:13", "--socket", "/typed/socket",
		"--private-key", "/typed/key", "--certificate", "/typed/certificate", "--ca-cert", "/typed/ca")
	require.NoError(t, err)
	assert.Equal(t, config.Config{
		Unit: "typed/0", Mode: config.On, NB: []string{"unix:/typed/nb"}, SB: []string{"unix:/typed/sb"},
		TTL: 3 * time.Second, HoldDown: 5 * time.Second,
		Listen: "127.0.0.1:11", PeerListen: "127.0.0.1:12", Peers: []string{"127.0.0.1:13"}, Socket: "/typed/socket",
		Key: "/typed/key", Certificate: "/typed/certificate", CA: "/typed/ca", Backups: "/file/backups",
		BackupInterval: time.Hour, Generation: "file",
	}, c)
	_, err = loaded(t, `{"nb":["nonsense"],"sb":["unix:/sb"]}`)
	require.ErrorContains(t, err, `--nb "nonsense" `, "before a running agent stops for it")
}

// SIGHUP: only after it has closed its old peer address does the agent notice that another program uses the new one.
// It continues at the old one.
func TestAgent_keeps_old_address_if_new_one_is_taken(t *testing.T) {
	network := loopbacktest.Network(t)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", network+".2:16401")
	require.NoError(t, err)
	defer taken.Close()
	var mu sync.Mutex
	current := config.Config{
		Unit: "u/0", Mode: config.Advise, NB: []string{"unix:/nonexistent"}, SB: []string{"unix:/nonexistent"},
		TTL: lease.MinTTL, Listen: network + ".1:16401",
	}
	var failure error
	read := func() (config.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		return current, failure
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	output, ended := new(lockedBuffer), make(chan error, 1)
	dir := t.TempDir()
	go func() {
		ended <- runAgent(ctx, read, ovndb.Paths{Run: dir, DB: dir, Logs: dir, Etc: dir},
			slog.New(slog.NewTextHandler(output, nil)))
	}()
	const patience = 30 * time.Second
	answers := func() bool {
		r, err := http.Get("http://" + network + ".1:16401/healthz") //nolint:noctx // the agent's own timeouts hold
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	}
	require.Eventually(t, answers, patience, 10*time.Millisecond)

	mu.Lock()
	failure = errors.New("nonsense")
	mu.Unlock()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return strings.Contains(output.String(), "nonsense") }, patience,
		10*time.Millisecond)
	assert.True(t, answers())

	mu.Lock()
	current.PeerListen, failure = taken.Addr().String(), nil
	mu.Unlock()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return strings.Contains(output.String(), taken.Addr().String()) }, patience,
		10*time.Millisecond)
	require.Eventually(t, answers, patience, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
}

// A missing confirmation is a refusal, not an invalid command line.
func TestAnswer_exit_code(t *testing.T) {
	t.Parallel()
	for code, usage := range map[finding.Code]bool{
		finding.ParameterInvalid: true, finding.Unconfirmed: false, finding.NodeUnconfirmed: false,
	} {
		f, cmd := databaseFlags{output: "text", getenv: os.Getenv}, new(cobra.Command)
		cmd.SetErr(io.Discard)
		cmd.SetContext(t.Context())
		err := f.answer(cmd, answer.Of(answer.BadRequest, finding.New(code, finding.Subject{}, finding.Args{})))
		assert.Equal(t, usage, errors.As(err, new(usageError)), code)
	}
}

func TestIsProblem(t *testing.T) {
	t.Parallel()
	for code, problem := range map[finding.Code]bool{
		finding.CandidatesChanged: false, finding.JournalUnread: true, finding.GatewayPinned: true,
	} {
		assert.Equal(t, problem, isProblem(finding.About(code, "", finding.Args{})), code)
	}
}

func TestGateways_next_dry_run_keeps_networks(t *testing.T) {
	t.Parallel()
	f, cmd := gatewayFlags{databaseFlags: databaseFlags{program: GatewaysName, getenv: os.Getenv}}, new(cobra.Command)
	cmd.SetErr(io.Discard)
	f.Options.Networks = []string{"physnet1", "b c"}
	s, end := f.service(cmd, io.Discard)
	defer end()
	assert.Equal(t, GatewaysName+" reschedule --network physnet1 --network 'b c' --dry-run", s.DryRun("reschedule"))
}
