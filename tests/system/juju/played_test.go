package juju

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// socketVariable makes the test program a juju client, which asks the test.
const socketVariable = "PLAYED_JUJU"

func TestMain(m *testing.M) {
	lab.Intercept()
	if socket := os.Getenv(socketVariable); socket != "" {
		os.Exit(ask(socket, os.Args[1:]))
	}
	os.Exit(m.Run())
}

type answer struct {
	Stdout, Stderr string
	Code           int
}

func ask(socket string, args []string) int {
	connection, err := net.Dial("unix", socket)
	var got answer
	if err == nil {
		err = json.NewEncoder(connection).Encode(args)
	}
	if err == nil {
		err = json.NewDecoder(connection).Decode(&got)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ERROR", err)
		return 1
	}
	fmt.Print(got.Stdout)
	fmt.Fprint(os.Stderr, got.Stderr)
	return got.Code
}

// play serves a juju client of an application, and returns the client program.
func play(ctx context.Context, t *testing.T, app cluster.Application) string {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "juju.sock")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	var group sync.WaitGroup
	t.Cleanup(func() { listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer connection.Close()
				var args []string
				if json.NewDecoder(connection).Decode(&args) != nil {
					return
				}
				out, err := command(ctx, app, args)
				got := answer{Stdout: out}
				if err != nil {
					got.Stderr, got.Code = "ERROR "+err.Error()+"\n", 1
				}
				_ = json.NewEncoder(connection).Encode(got)
			})
		}
	})
	own, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(dir, "juju")
	script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %s \"$@\"\n", socketVariable, socket, own)
	require.NoError(t, os.WriteFile(program, []byte(script), 0o755)) //nolint:gosec // it is executed
	return program
}

// flags separates the flags of a command from its other arguments, without those of every command.
func flags(args []string) (values map[string][]string, alone []string) {
	values = map[string][]string{}
	for i := 0; i < len(args); i++ {
		switch name := args[i]; {
		case name == "--":
			return values, append(alone, args[i+1:]...)
		case slices.Contains([]string{"-m", "-n", "--config", "--unit", "--type", "--to"}, name):
			i++
			values[name] = append(values[name], args[i])
		case strings.HasPrefix(name, "-"):
			values[name] = nil
		default:
			alone = append(alone, name)
		}
	}
	return values, alone
}

func command(ctx context.Context, app cluster.Application, args []string) (string, error) {
	values, alone := flags(args[1:])
	n, _ := strconv.Atoi(strings.Join(values["-n"], ""))
	_, force := values["--force"]
	if !slices.Equal(values["-m"], []string{"test"}) {
		return "", fmt.Errorf("model %q not found", values["-m"])
	}
	switch line := strings.Join(args, " "); {
	case args[0] == "status":
		units, err := app.Units(ctx)
		return printed(map[string]any{"applications": map[string]any{"ovn-central": map[string]any{"units": units}}}, err)
	case args[0] == "show-status-log":
		log, err := app.Log(ctx, alone[0])
		return printed(kept(log), err)
	case args[0] == "deploy":
		return "", app.Deploy(ctx, n, options(values["--config"]))
	case args[0] == "add-unit":
		return "", app.Add(ctx, n)
	case args[0] == "config":
		return "", app.Configure(ctx, options(alone[1:]))
	case args[0] == "integrate":
		other, endpoint, _ := strings.Cut(alone[1], ":")
		return "", app.Relate(ctx, endpoint, other)
	case args[0] == "run":
		return run(ctx, app, alone)
	case args[0] == "exec":
		return app.Exec(ctx, values["--unit"][0], alone[0], alone[1:]...)
	case args[0] == "ssh" && strings.Contains(line, "poweroff"):
		return "", app.PowerOff(ctx, alone[0])
	case args[0] == "ssh" && strings.Contains(line, "restart jujud-machine-*"):
		return "", app.RestartAgent(ctx, alone[0])
	case args[0] == "remove-unit":
		return "", app.Remove(ctx, alone[0], force)
	case args[0] == "remove-application":
		return "", app.Destroy(ctx)
	}
	return "", fmt.Errorf("the played juju has no %v", args)
}

// kept is a log as Juju 4 keeps it: in whole seconds, written every two.
func kept(log []cluster.Past) []cluster.Past {
	lines := []cluster.Past{}
	for _, line := range log {
		if time.Since(line.Since) > 2*time.Second {
			line.Since = line.Since.Truncate(time.Second)
			lines = append(lines, line)
		}
	}
	return lines
}

func printed(what any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(what)
	return string(out), err
}

func options(typed []string) map[string]string {
	values := map[string]string{}
	for _, option := range typed {
		key, value, _ := strings.Cut(option, "=")
		values[key] = value
	}
	return values
}

func run(ctx context.Context, app cluster.Application, typed []string) (string, error) {
	results, err := app.Run(ctx, typed[0], typed[1], typed[2:]...)
	task := map[string]any{"id": "1", "status": "completed", "results": results}
	switch {
	case errors.Is(err, cluster.ErrAction):
		task["status"], task["message"] = "failed", err.Error()
	case err != nil:
		return "", err
	}
	out, marshalled := printed(map[string]any{typed[0]: task}, nil)
	return out, errors.Join(err, marshalled)
}

// The client's own part, with the lab behind a juju command, in the ways of Juju 4.
func TestStoryWithThePlayedJuju(t *testing.T) {
	dir, err := os.MkdirTemp("", "played-") //nolint:usetesting // a socket's path must be short
	require.NoError(t, err)
	o := lab.Options{Charm: filepath.Join(dir, "charm"), Program: filepath.Join(dir, "ovn-lab"), JujuVersion: lab.Juju4, Log: t.Output()}
	root := filepath.Join("..", "..", "..")
	require.NoError(t, errors.Join(os.Mkdir(o.Charm, 0o755), lab.LayOut(t.Context(), o.Charm, root, ""), lab.BuildTools(t.Context(), root, o.Program)))
	l, err := lab.New(t.Context(), o)
	require.NoError(t, err)
	app, end := lab.Live(t.Context(), l)
	t.Cleanup(func() { end(); l.CloseOrKeep(t); assert.NoError(t, os.RemoveAll(dir)) })
	s := &cluster.Story{
		App: &Client{
			Program: play(t.Context(), t, app), Model: "test", Charm: "./ovn-central.charm", App: "ovn-central",
			TurnOff: TurnOff, Restart: Restart,
		},
		Runner: cluster.Client, CA: "vault", Options: map[string]string{"source": "distro", "ovsdb-server-election-timer": "1"},
		Limit: 10 * time.Minute, Every: 500 * time.Millisecond, Out: t.Output(),
	}
	wrong, err := s.Tell(t.Context(), cluster.Life)
	require.NoError(t, err)
	assert.Empty(t, wrong)
}

// runBy runs an action by a client that is a shell script.
func runBy(t *testing.T, script string, args ...string) (map[string]any, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "juju")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755)) //nolint:gosec // it is executed
	return (&Client{Program: program, Model: "test"}).Run(t.Context(), "ovn-central/0", "kick", args...)
}

// Juju's client ends with 0 then.
func TestClient_refused_action_is_error_with_reason(t *testing.T) {
	t.Parallel()
	_, err := runBy(t, "echo 'Operation 2 failed to schedule any tasks:' >&2\necho 'validation failed: (root).nb-identity' >&2\n", "nb-identity=17")
	require.ErrorIs(t, err, cluster.ErrAction)
	require.ErrorContains(t, err, "validation failed: (root).nb-identity")
}

// Juju's client gives up after a minute otherwise, and an action may take longer or wait for a hook.
func TestClient_waits_for_action_as_long_as_allowed(t *testing.T) {
	t.Parallel()
	results, err := runBy(t, `case "$*" in
*--wait=10m0s*) echo '{"ovn-central/0":{"status":"completed","results":{"next":"nothing"}}}' ;;
*) echo 'ERROR timed out waiting for results from: ovn-central/0' >&2; exit 1 ;;
esac
`)
	require.NoError(t, err)
	require.Equal(t, "nothing", results["next"])
}
