// Package dataplane shows that gateways go where the program plans them, and that traffic follows them. Its chassis
// have Open vSwitch, ovn-controller, tunnels and BFD, each in a network namespace.
//
// Namespaces and links have no names and belong to processes. So nothing outlives a kill, and any number of runs is
// possible at a time. The machine's own network isn't touched.
package dataplane

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// patience bounds every wait: 5 s are enough on an idle machine.
const patience = 90 * time.Second

// hold is how long a condition must hold: claims bounce for up to 3 s until chassis have heard one another.
const hold = 3 * time.Second

const lookInterval = 100 * time.Millisecond

// tun makes the bridges of Open vSwitch's userspace datapath visible to the system.
const tun = "/dev/net/tun"

// world is two databases with an ovn-northd, chassis, and a host outside of the cloud that uses the gateways.
type world struct {
	t   *testing.T
	dir string
	// hub has the databases, and the bridges that simulate the switches of a rack.
	hub, outside *namespace
	chassis      []*chassis
	gateways     []routed
}

// newWorld starts a world with chassis ch1, ch2 and so on, all on physnet1.
func newWorld(t *testing.T, chassis int) *world {
	t.Helper()
	require.Zero(t, os.Geteuid(), "chassis need network namespaces: run the tests as root")
	device, err := os.OpenFile(tun, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, device.Close())
	w := &world{t: t, dir: t.TempDir()}
	w.wire()
	for db, port := range map[string]string{"nb": "6641", "sb": "6642"} {
		w.run("ovsdb-tool", "create", w.path(db, "db"), "/usr/share/ovn/ovn-"+db+".ovsschema")
		w.start(w.hub, w.dir, "ovsdb-server", "--remote=p"+w.endpoint(db), "--remote=ptcp:"+port+":"+centralAddress, w.path(db, "db"))
	}
	w.start(w.hub, w.dir, "ovn-northd", "--ovnnb-db="+w.endpoint("nb"), "--ovnsb-db="+w.endpoint("sb"))
	for range chassis {
		w.addChassis()
	}
	w.nbctl("ls-add", "physnet1", "--", "lsp-add", "physnet1", "physnet1-ln", "--", "lsp-set-type", "physnet1-ln", "localnet", "--",
		"lsp-set-addresses", "physnet1-ln", "unknown", "--", "lsp-set-options", "physnet1-ln", "network_name=physnet1")
	t.Cleanup(func() {
		if t.Failed() {
			w.describe()
		}
	})
	return w
}

func (w *world) path(name, suffix string) string { return filepath.Join(w.dir, name+"."+suffix) }

func (w *world) endpoint(db string) string { return "unix:" + w.path(db, "sock") }

func (w *world) run(program string, args ...string) string {
	w.t.Helper()
	return w.output(exec.Command(program, args...))
}

func (w *world) output(cmd *exec.Cmd) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), patience)
	defer cancel()
	bounded := exec.CommandContext(ctx, cmd.Args[0], cmd.Args[1:]...)
	bounded.Env, bounded.Stdin, bounded.SysProcAttr = cmd.Env, cmd.Stdin, cmd.SysProcAttr
	out, err := bounded.CombinedOutput()
	require.NoError(w.t, err, "%s: %s", bounded, out)
	return strings.TrimSpace(string(out))
}

// nbctl runs ovn-nbctl without its daemon, whose copy may be outdated.
func (w *world) nbctl(args ...string) string {
	w.t.Helper()
	return w.run("ovn-nbctl", append([]string{"--db=" + w.endpoint("nb")}, args...)...)
}

func (w *world) sbctl(args ...string) string {
	w.t.Helper()
	return w.run("ovn-sbctl", append([]string{"--db=" + w.endpoint("sb")}, args...)...)
}

// operate runs a command of the program, of `gateways` or of `nodes`. It also works during cleanup.
func (w *world) operate(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), 2*patience)
	defer cancel()
	var out, errs bytes.Buffer
	all := slices.Concat([]string{"ovn-central-operator"}, args,
		[]string{"--nb", w.endpoint("nb"), "--sb", w.endpoint("sb")})
	code = cli.Main(ctx, all, os.Getenv, &out, &errs)
	return code, out.String(), errs.String()
}

func (w *world) operated(args ...string) string {
	w.t.Helper()
	code, out, stderr := w.operate(args...)
	require.Equal(w.t, 0, code, "%v: %s%s", args, out, stderr)
	return out
}

// read runs a command of the program and reads the JSON that it prints.
func (w *world) read(result any, args ...string) {
	w.t.Helper()
	require.NoError(w.t, json.Unmarshal([]byte(w.operated(append(args, "--format", "json")...)), result))
}

// changesNothing asserts that a command has nothing to do.
func (w *world) changesNothing(args ...string) {
	w.t.Helper()
	var p schedule.Plan
	w.read(&p, args...)
	assert.True(w.t, p.Empty(), args)
}

// planned returns the plan of an operation without carrying it out.
func (w *world) planned(operation string) (p schedule.Plan) {
	w.t.Helper()
	w.read(&p, "gateways", operation, "--dry-run")
	return p
}

func (w *world) status() (s schedule.Status) {
	w.t.Helper()
	w.read(&s, "gateways", "status")
	return s
}

func (w *world) problems() (codes []string) {
	w.t.Helper()
	var s struct{ Problems []finding.Document }
	w.read(&s, "gateways", "status")
	for _, p := range s.Problems {
		codes = append(codes, p.Code)
	}
	return codes
}
