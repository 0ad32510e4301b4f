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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
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

// answer is what a command prints, and its end.
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

// played is a controller: the lab, in which everything that follows from a command
// happens by itself, and after the command has ended.
type played struct {
	*lab.Lab
	t   *testing.T
	ctx context.Context

	group   sync.WaitGroup
	mu      sync.Mutex
	history map[string][]cluster.Past // by unit
}

// updates is how often the played Juju runs update-status: 5 minutes, as the lab
// scales Juju's times.
const updates = 5 * time.Minute / 50

// play serves a juju client, and returns the program that is it.
func play(t *testing.T, o lab.Options) (*played, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "played-") //nolint:usetesting // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	o.Charm, o.Program, o.Log = filepath.Join(dir, "charm"), filepath.Join(dir, "ovn-lab"), t.Output()
	root := filepath.Join("..", "..")
	require.NoError(t, os.Mkdir(o.Charm, 0o755))
	require.NoError(t, errors.Join(lab.LayOut(t.Context(), o.Charm, root, ""), lab.BuildTools(t.Context(), root, o.Program)))
	l, err := lab.New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })

	ctx, stop := context.WithCancel(t.Context())
	p := &played{Lab: l, t: t, ctx: ctx, history: map[string][]cluster.Past{}}
	socket := filepath.Join(dir, "juju.sock")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { stop(); listener.Close(); p.group.Wait() })
	p.group.Go(func() { p.serve(listener) })
	p.group.Go(p.live)

	own, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(dir, "juju")
	script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %s \"$@\"\n", socketVariable, socket, own)
	require.NoError(t, os.WriteFile(program, []byte(script), 0o755)) //nolint:gosec // it is executed
	return p, program
}

func (p *played) serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		p.group.Go(func() {
			defer connection.Close()
			var args []string
			if json.NewDecoder(connection).Decode(&args) != nil {
				return
			}
			var got answer
			out, err := p.do(args)
			if got.Stdout = out; err != nil {
				got.Stderr, got.Code = "ERROR "+err.Error()+"\n", 1
			}
			_ = json.NewEncoder(connection).Encode(got)
		})
	}
}

// live is what agents do by themselves.
func (p *played) live() {
	due := time.Now().Add(updates)
	for p.ctx.Err() == nil {
		_ = p.Settle(p.ctx) // a hook that fails shows in the status
		if time.Now().After(due) {
			_ = p.UpdateStatus(p.ctx)
			due = time.Now().Add(updates)
		}
		select {
		case <-p.ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// flags are the arguments of a command without those of every command, with the
// values of flags, and what stands alone.
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

func (p *played) do(args []string) (string, error) {
	values, alone := flags(args[1:])
	if !slices.Equal(values["-m"], []string{"test"}) {
		return "", fmt.Errorf("model %q not found", values["-m"])
	}
	switch args[0] {
	case "status":
		return p.status()
	case "show-status-log":
		return p.log(alone[0])
	case "deploy":
		return "", errors.Join(p.configure(values["--config"]), p.add(3))
	case "add-unit":
		return "", p.add(1)
	case "config":
		return "", p.configure(alone[1:])
	case "integrate":
		p.after(func() error { _, err := p.RelateCA(p.ctx); return err })
		return "", nil
	case "run":
		return p.run(alone)
	case "remove-application":
		p.after(func() error { return p.RemoveApplication(p.ctx) })
		return "", nil
	}
	return p.doTo(args[0], values, alone)
}

// doTo are the commands about one unit.
func (p *played) doTo(command string, values map[string][]string, alone []string) (string, error) {
	u, err := p.Unit(append(values["--unit"], alone...)[0])
	if err != nil {
		return "", err
	}
	_, force := values["--force"]
	switch line := strings.Join(alone, " "); {
	case command == "exec":
		return u.Exec(p.ctx, alone[0], alone[1:]...)
	case command == "ssh" && strings.Contains(line, "poweroff"):
		return "", u.PowerOff()
	case command == "ssh" && strings.Contains(line, "restart jujud-machine-*"):
		return "", u.RestartAgent()
	case command == "remove-unit" && force:
		return "", p.RemoveUnit(p.ctx, u, lab.RemoveOptions{Force: true})
	case command == "remove-unit":
		p.after(func() error {
			err := p.RemoveUnit(p.ctx, u, lab.RemoveOptions{})
			if errors.As(err, new(*lab.HookError)) && !u.Removed() {
				_, err = p.RetryUntil(p.ctx, u)
			}
			return err
		})
		return "", nil
	}
	return "", fmt.Errorf("the played juju has no %s %v", command, alone)
}

// after does what follows from a command, once it has ended.
func (p *played) after(f func() error) {
	p.group.Go(func() {
		if err := f(); err != nil && p.ctx.Err() == nil {
			p.t.Log(err)
		}
	})
}

func (p *played) add(n int) error {
	for range n {
		u, err := p.AddUnitWith(p.ctx, lab.AddOptions{Fresh: true, NoHooks: true})
		if err != nil {
			return err
		}
		u.OnCall(func(call string) { p.note(u.Name(), call) })
	}
	return nil
}

// note keeps what a charm shows.
func (p *played) note(unit, call string) {
	words := strings.SplitN(strings.Replace(call, " -- ", " ", 1), " ", 3)
	if words[0] != "status-set" || len(words) < 2 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history[unit] = append(p.history[unit], cluster.Past{Status: words[1], Message: strings.Join(words[2:], ""), Since: time.Now()})
}

// log is as Juju 4 keeps it: of whole seconds, and written every two.
func (p *played) log(unit string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := []cluster.Past{}
	for _, line := range p.history[unit] {
		if time.Since(line.Since) > 2*time.Second {
			line.Since = line.Since.Truncate(time.Second)
			lines = append(lines, line)
		}
	}
	out, err := json.Marshal(lines)
	return string(out), err
}

func (p *played) configure(options []string) error {
	values := map[string]string{}
	for _, option := range options {
		key, value, _ := strings.Cut(option, "=")
		values[key] = value
	}
	if len(p.Units()) == 0 {
		return p.Configure(p.ctx, values)
	}
	p.after(func() error { return p.Configure(p.ctx, values) })
	return nil
}

func (p *played) status() (string, error) {
	units := map[string]cluster.Unit{}
	leader := p.Leader()
	for _, u := range p.Units() {
		workload, agent := u.Workload(), u.Agent()
		units[u.Name()] = cluster.Unit{
			Workload: cluster.Status{Current: workload.Status, Message: workload.Message},
			Agent:    cluster.Status{Current: agent.Status, Message: agent.Message}, Leader: u == leader,
		}
	}
	out, err := json.Marshal(map[string]any{"applications": map[string]any{"ovn-central": map[string]any{"units": units}}})
	return string(out), err
}

func (p *played) run(typed []string) (string, error) {
	u, err := p.Unit(typed[0])
	if err != nil {
		return "", err
	}
	result, err := p.RunAction(p.ctx, u, typed[1], typed[2:]...)
	if result.ID == "" {
		return "", err
	}
	out, err := json.Marshal(map[string]any{u.Name(): map[string]any{
		"id": result.ID, "status": result.Status, "message": result.Message, "results": result.Results,
	}})
	if err == nil && result.Status == "failed" {
		err = errors.New("the action failed")
	}
	return string(out), err
}

// The program's own logic, with the lab behind a juju command, in the ways of Juju
// 4.
func TestStoryWithThePlayedJuju(t *testing.T) {
	_, program := play(t, lab.Options{JujuVersion: lab.Juju4})
	s := &cluster.Story{
		App: &Client{Program: program, Model: "test", Charm: "./ovn-central.charm", App: "ovn-central", TurnOff: TurnOff, Restart: Restart},
		CA:  "vault", Options: map[string]string{"source": "distro", "ovsdb-server-election-timer": "1"},
		Limit: 2 * time.Minute, Every: 100 * time.Millisecond, Out: t.Output(),
	}
	wrong, err := s.Tell(t.Context())
	require.NoError(t, err)
	assert.Empty(t, wrong)
}
