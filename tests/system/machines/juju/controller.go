// Package juju drives Juju on machines: a small controller on the host, and Juju's own unit agent on each machine. Both are
// the program juju-runner of tests/system/conformance. No test calls hooks: the agents run them when the model changes.
package juju

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Mount is the controller's directory on the machines.
const Mount = "/srv/juju"

// Peers is the endpoint of the peer relation, which always has the number 1.
const Peers = "ovsdb-peer"

const socketName = "controller.sock"

// startTimeout bounds the controller's start on a busy machine.
const startTimeout = 2 * time.Minute

// Controller is a model with one application, ovn-central.
type Controller struct {
	dir    string
	cmd    *exec.Cmd
	output bytes.Buffer
	client *http.Client
	done   chan struct{}

	mu        sync.Mutex
	relations map[string]int // their numbers, by endpoint
}

// Serve starts a controller. program is juju-runner, with juju-hook-tool beside it, dir a directory that the machines
// share as [Mount], charm the directory of an unpacked charm, which the controller reads.
func Serve(ctx context.Context, program, dir, charm string) (*Controller, error) {
	for _, name := range []string{"juju-runner", "juju-hook-tool"} {
		if err := copyProgram(filepath.Join(filepath.Dir(program), name), filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("cannot start the controller: %w", err)
		}
	}
	c := &Controller{dir: dir, done: make(chan struct{}), relations: map[string]int{Peers: 1}}
	c.cmd = exec.Command(program, "serve", "--dir", dir, "--charm", charm)
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the controller: %w", err)
	}
	go func() { defer close(c.done); _ = c.cmd.Wait() }()
	socket := filepath.Join(dir, socketName)
	c.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	return c, c.await(ctx)
}

func (c *Controller) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	go func() { <-c.done; cancel() }()
	err := poll.Until(ctx, 50*time.Millisecond, func() error { _, err := c.Status(ctx); return err })
	if err != nil {
		return errors.Join(fmt.Errorf("cannot reach the controller: %w", err), c.Close(), errors.New(c.output.String()))
	}
	return nil
}

// Close ends the controller. The agents go with their machines.
func (c *Controller) Close() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(startTimeout):
		return errors.Join(errors.New("the controller didn't end: killed"), c.cmd.Process.Kill())
	}
}

// do asks the controller; its answer is decoded into answer, unless that is nil.
func (c *Controller) do(ctx context.Context, verb string, question, answer any) error {
	fail := func(err error) error { return fmt.Errorf("cannot do %s in the model: %w", verb, err) }
	body, err := json.Marshal(question)
	if err != nil {
		return fail(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://controller/do/"+verb, bytes.NewReader(body))
	if err != nil {
		return fail(err)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return fail(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fail(err)
	}
	if response.StatusCode != http.StatusOK {
		var refusal struct{ Error string }
		if json.Unmarshal(text, &refusal) != nil || refusal.Error == "" {
			refusal.Error = string(text)
		}
		return fail(errors.New(refusal.Error))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fail(fmt.Errorf("%w in %s", err, text))
	}
	return nil
}

func copyProgram(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755) //nolint:gosec // it is executed
}
