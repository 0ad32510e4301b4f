// Command dropin runs programs for the Python charm against this one, unchanged: zaza's functional tests of ovn-central
// and juju-verify's. The units with their servers are the lab's; played.py plays libjuju and the command juju, and asks
// this command. docs/reference/compatibility.md says what else is played.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func main() {
	lab.Intercept()
	sources := flag.String("sources", "", "directory with checkouts of zaza, zaza-openstack-tests, juju-verify and charm-ovn-central")
	format := flag.String("format", "yaml", "value of the option cluster-status-format")
	juju := flag.String("juju", lab.Juju3, "version of Juju")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *sources, *format, *juju); err != nil {
		fmt.Fprintln(os.Stderr, "dropin:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

type model struct {
	*lab.Application
	dir, root string
	cos       int // the relation with grafana-agent
}

func run(ctx context.Context, sources, format, juju string) (err error) {
	m := &model{}
	if m.root, err = lab.Root(); err != nil {
		return err
	}
	if m.dir, err = os.MkdirTemp("", "dropin-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	o := lab.Options{Charm: filepath.Join(m.dir, "charm"), Program: filepath.Join(m.dir, "ovn-lab"), JujuVersion: juju, Restart: true, Log: os.Stderr}
	if err = errors.Join(os.Mkdir(o.Charm, 0o755), lab.LayOut(ctx, o.Charm, m.root, ""), lab.BuildTools(ctx, m.root, o.Program)); err != nil {
		return err
	}
	// Hooks find nrpe's directories at their usual paths.
	dispatch := filepath.Join(o.Charm, "dispatch")
	script := fmt.Sprintf("#!/bin/sh\nexec %s ${OVN_RUNDIR%%/run} $CHARM_DIR/dispatch.real \"$0\" \"$@\"\n", m.file("on-machine"))
	if err = errors.Join(os.Rename(dispatch, dispatch+".real"), os.WriteFile(dispatch, []byte(script), 0o755)); err != nil { //nolint:gosec // Juju runs it
		return err
	}
	l, err := lab.New(ctx, o)
	if err != nil {
		return err
	}
	var end func()
	m.Application, end = lab.Live(ctx, l)
	defer func() { end(); err = errors.Join(err, l.Close()) }()
	listener, err := net.Listen("unix", filepath.Join(m.dir, "socket"))
	if err != nil {
		return err
	}
	defer listener.Close()
	go m.serve(ctx, listener)
	hub, err := l.HubNamespace()
	if err != nil {
		return err
	}
	tests := exec.CommandContext(ctx, "nsenter", "--net="+hub, "/usr/bin/python3", m.file("run.py"), sources, format)
	tests.Env = append(os.Environ(), "DROPIN="+m.dir, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore")
	tests.Stdout, tests.Stderr = os.Stdout, os.Stderr
	return errors.Join(tests.Run(), ctx.Err())
}

func (m *model) file(name string) string { return filepath.Join(m.root, "tests", "dropin", name) }

// request is a request of the played libjuju: the fields that Op needs.
type request struct {
	Op, Unit, Action, Script, TTL string
	Args                          []string
	Options                       map[string]string
	N                             int
}

func (m *model) serve(ctx context.Context, listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			var r request
			if json.NewDecoder(connection).Decode(&r) != nil {
				return
			}
			value, err := m.do(ctx, r)
			reply := map[string]any{"value": value}
			if err != nil {
				reply["error"] = err.Error()
			}
			_ = json.NewEncoder(connection).Encode(reply)
		}()
	}
}

func (m *model) do(ctx context.Context, r request) (any, error) {
	switch r.Op {
	case "deploy":
		for endpoint, other := range map[string]string{"certificates": "vault", "nrpe-external-master": "nrpe", "cos-agent": "grafana-agent"} {
			id, err := m.Lab.Relate(ctx, endpoint, other, 1)
			if err != nil {
				return nil, err
			}
			if other == "grafana-agent" {
				m.cos = id
			}
		}
		return nil, errors.Join(m.Configure(ctx, r.Options), m.add(ctx, r.N))
	case "status":
		return m.status(), nil
	case "exec":
		return m.exec(ctx, r)
	case "run":
		u, err := m.Unit(r.Unit)
		if err != nil {
			return nil, err
		}
		result, err := m.RunAction(ctx, u, r.Action, r.Args...)
		if result.ID == "" {
			return nil, err
		}
		return map[string]any{"status": result.Status, "message": result.Message, "results": result.Results}, nil
	case "add":
		return nil, m.add(ctx, r.N)
	case "remove":
		return nil, m.Remove(ctx, r.Unit, false)
	case "config":
		return nil, m.Configure(ctx, r.Options)
	case "cos":
		return m.RelationData(m.cos).Units, nil
	case "ttl":
		ttl, err := time.ParseDuration(r.TTL)
		m.CA().SetTTL(ttl)
		return nil, err
	case "issue":
		m.CA().Reissue()
		m.OnRemote("certificates", func(unit string, bag map[string]string) map[string]string {
			answer, _ := m.CA().Answer(unit, bag) // a request that can't be answered gets no answer
			return answer
		})
		return nil, nil
	}
	return nil, fmt.Errorf("no operation %q", r.Op)
}

func (m *model) add(ctx context.Context, n int) error {
	err := m.Add(ctx, n)
	for _, u := range m.Lab.Units() {
		plugins := filepath.Join(u.Machine.Dir, "usr/local/lib/nagios/plugins")
		err = errors.Join(err, os.MkdirAll(filepath.Join(u.Machine.Dir, "etc/nagios/nrpe.d"), 0o755), os.MkdirAll(plugins, 0o755),
			os.WriteFile(filepath.Join(plugins, "check_systemd.py"), []byte("#!/bin/sh\nexec systemctl is-active \"$1\"\n"), 0o755)) //nolint:gosec // it is executed
	}
	return err
}

// resting is how long an agent without a hook waits before it reports that it is idle (idleWaitTime of Juju's uniter).
const resting = 2 * time.Second

func (m *model) status() any {
	units := map[string]any{}
	leader := m.Leader()
	for _, u := range m.Lab.Units() {
		workload, agent := u.Workload(), u.Agent()
		switch {
		case agent.Status == "error": // Juju shows a failed hook as the workload's status
			workload, agent.Status = agent, "idle"
		case agent.Status == "idle" && (time.Since(agent.Since) < resting || u.Dying()):
			agent.Status = "executing"
		}
		namespace, _ := u.Namespace() // a machine that is off has none
		units[u.Name()] = map[string]any{
			"workload": workload.Status, "message": workload.Message, "agent": agent.Status, "leader": u == leader,
			"address": u.Address(), "number": u.Number(), "dir": u.Machine.Dir, "namespace": namespace,
		}
	}
	return units
}

// ownProcesses limits pidof and pgrep to the processes of one machine: the lab's machines share their process IDs.
const ownProcesses = `own() {
	for pid in $("$@"); do [ "$(readlink /proc/$pid/ns/net)" != "$(readlink /proc/self/ns/net)" ] || echo $pid; done | grep .
}
pidof() { own command pidof "$@"; }
pgrep() { own command pgrep "$@"; }
`

func (m *model) exec(ctx context.Context, r request) (any, error) {
	u, err := m.Unit(r.Unit)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(m.dir, "exec-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(ownProcesses+r.Script+"\n"), 0o600); err != nil {
		return nil, err
	}
	_, ran := m.JujuExec(ctx, u, fmt.Sprintf("%s %s /bin/bash bash %[3]s/script >%[3]s/stdout 2>%[3]s/stderr; code=$?; echo $code >%[3]s/code; exit $code",
		m.file("on-machine"), u.Machine.Dir, dir))
	results := map[string]string{}
	for key, file := range map[string]string{"stdout": "stdout", "stderr": "stderr", "return-code": "code"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, errors.Join(ran, err)
		}
		results[key] = string(text)
	}
	results["return-code"] = strings.TrimSpace(results["return-code"])
	return results, nil
}
