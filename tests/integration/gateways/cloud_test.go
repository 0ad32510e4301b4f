// Package gateways shows and moves gateways with the program itself, on real databases with a real ovn-northd.
package gateways

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// patience bounds every wait for a program.
const patience = 90 * time.Second

// cloud is two standalone databases and their ovn-northd.
type cloud struct {
	t   *testing.T
	dir string
	// count is the number of gateways made so far, chassis the number of chassis.
	count, addresses, chassis int
	northd                    *ovsdbtest.Process
	servers                   map[string]*ovsdbtest.Server
	// nb has the endpoints of NB if it is a cluster.
	nb string
}

// newCloud starts a cloud with some gateway chassis, all on the network physnet1. Without chassis there is no network.
func newCloud(t *testing.T, chassis ...string) *cloud {
	t.Helper()
	c := newDatabases(t)
	c.startNorthd()
	for _, name := range chassis {
		c.addChassis(name)
	}
	if len(chassis) > 0 {
		c.addNetwork("physnet1")
	}
	return c
}

// newDatabases starts databases that nothing has used yet. All chassis respond that have no row of Chassis_Private.
func newDatabases(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{t: t, dir: t.TempDir(), servers: map[string]*ovsdbtest.Server{}}
	for _, d := range ovndb.Databases() {
		c.servers[d.Short()] = ovsdbtest.New(t, d, "").Standalone(t).Start(t)
	}
	ovsdbtest.Follow(t, c.endpoint("sb"))
	return c
}

func (c *cloud) path(name, suffix string) string { return filepath.Join(c.dir, name+"."+suffix) }

func (c *cloud) endpoint(db string) string { return c.servers[db].Endpoint() }

func (c *cloud) northbound() string {
	if c.nb != "" {
		return c.nb
	}
	return c.endpoint("nb")
}

// startNorthd starts ovn-northd, and returns when it answers.
func (c *cloud) startNorthd() {
	c.t.Helper()
	control := c.path("northd", "ctl")
	c.northd = ovsdbtest.Run(c.t, nil, "ovn-northd", "-vconsole:off", "--log-file="+c.path("northd", "log"), "--unixctl="+control,
		"--ovnnb-db="+c.northbound(), "--ovnsb-db="+c.endpoint("sb"))
	c.northd.Answers(c.t, control)
}

func (c *cloud) run(program string, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	require.NoError(c.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// nbctl runs ovn-nbctl as a new process each time: its daemon would answer from a copy that may be out of date.
func (c *cloud) nbctl(args ...string) string {
	return c.run("ovn-nbctl", append([]string{"--db=" + c.northbound()}, args...)...)
}

func (c *cloud) sbctl(args ...string) string {
	return c.run("ovn-sbctl", append([]string{"--db=" + c.endpoint("sb")}, args...)...)
}

func (c *cloud) addChassis(name string) {
	c.chassis++
	c.sbctl("chassis-add", name, "geneve", fmt.Sprintf("127.0.0.%d", c.chassis), "--", "set", "Chassis", name, "hostname="+name+".example",
		"other_config:ovn-cms-options=enable-chassis-as-gw", "other_config:ovn-bridge-mappings=physnet1:br-ex")
}

func (c *cloud) addNetwork(name string) {
	c.nbctl("ls-add", name, "--", "lsp-add", name, name+"-ln", "--", "lsp-set-type", name+"-ln", "localnet", "--",
		"lsp-set-options", name+"-ln", "network_name="+name)
}

// addGateways adds routers, each with a gateway in physnet1, and their candidates, best first. It adds all at once, so
// that ovn-northd computes once.
func (c *cloud) addGateways(n int, candidates ...string) (ports []string) {
	c.t.Helper()
	var args []string
	for range n {
		c.count++
		name := fmt.Sprintf("lrp-%03d", c.count)
		args = append(append(args, c.gateway("physnet1", name, candidates...)...), "--")
		ports = append(ports, name)
	}
	c.nbctl(args[:len(args)-1]...)
	return ports
}

// gateway returns the arguments that make a router with a gateway in a network. Neutron sets the option too: without it
// ovn-northd writes a flow for every two routers of a network.
func (c *cloud) gateway(network, name string, candidates ...string) []string {
	return append(c.hanging("r-"+name, name, network, later, candidates...),
		"--", "set", "Logical_Router", "r-"+name, "options:dynamic_neigh_routers=true")
}

// hanging returns the arguments that make a router, unless it exists, with a port on a switch. The port gets the
// external IDs in own.
func (c *cloud) hanging(router, port, network string, own []string, candidates ...string) []string {
	c.addresses++
	n, peer := c.addresses, port+"-sw"
	args := []string{
		"--may-exist", "lr-add", router, "--",
		"lrp-add", router, port, fmt.Sprintf("00:00:00:00:%02x:%02x", n>>8, n&255), fmt.Sprintf("10.%d.%d.1/24", n>>8,
			n&255), "--",
		"lsp-add", network, peer, "--", "lsp-set-type", peer, "router", "--", "lsp-set-options", peer, "router-port=" + port,
	}
	args = append(args, ids("Logical_Router_Port", port, own...)...)
	return append(args, newCandidates(port, port, candidates...)...)
}

// newCandidates returns the arguments that add candidates to the row of a port, with Neutron's names.
func newCandidates(row, port string, candidates ...string) (args []string) {
	for i := range candidates {
		chassis, priority := ranked(candidates, i)
		id := fmt.Sprintf("@%s%d", port, i)
		args = append(args, "--", "--id="+id, "create", "Gateway_Chassis", "name="+port+"_"+chassis, "chassis_name="+chassis,
			"priority="+priority, "--", "add", "Logical_Router_Port", row, "gateway_chassis", id)
	}
	return args
}

// ranked returns a candidate and its priority. The candidate is CHASSIS=PRIORITY, or CHASSIS in a list with the best
// first.
func ranked(candidates []string, i int) (chassis, priority string) {
	chassis, priority, given := strings.Cut(candidates[i], "=")
	if !given {
		priority = fmt.Sprint(len(candidates) - i)
	}
	return chassis, priority
}

// configure sets the CMS options of a chassis, and the provider networks that it is connected to.
func (c *cloud) configure(chassis, options string, networks ...string) {
	c.t.Helper()
	mappings := make([]string, len(networks))
	for i, n := range networks {
		mappings[i] = n + ":br-" + n
	}
	c.sbctl("set", "Chassis", chassis, fmt.Sprintf("other_config:ovn-cms-options=%q", options),
		fmt.Sprintf("other_config:ovn-bridge-mappings=%q", strings.Join(mappings, ",")))
}

// operate runs the program, as a person would.
func (c *cloud) operate(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	all := append([]string{"ovn-central-operator", "gateways", "--nb", c.northbound(), "--sb", c.endpoint("sb")}, args...)
	code = cli.Main(ctx, all, os.Getenv, &out, &errs)
	return code, out.String(), errs.String()
}
