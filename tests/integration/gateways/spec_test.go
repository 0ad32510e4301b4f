package gateways

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// candidates returns the candidates of a port in NB, best first.
func (c *cloud) candidates(port string) []string {
	var all []string
	for _, line := range strings.Split(c.nbctl("--bare", "--no-headings", "--format=csv", "--columns=priority,name,chassis_name", "list", "Gateway_Chassis"), "\n") {
		fields := strings.Split(line, ",")
		if len(fields) == 3 && fields[1] == port+"_"+fields[2] {
			all = append(all, fields[0]+" "+fields[2])
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

// masters counts the ports that each chassis hosts.
func (c *cloud) masters(ports ...string) map[string]int {
	count := map[string]int{}
	for _, p := range ports {
		_, chassis, _ := strings.Cut(c.candidates(p)[0], " ")
		count[chassis]++
	}
	return count
}

// scheduled returns the port's chassis in SB, with ovn-northd's priorities.
func (c *cloud) scheduled(port string) string {
	c.nbctl("--wait=sb", "sync")
	return c.sbctl("--bare", "--columns=ha_chassis", "find", "HA_Chassis_Group", "name="+port)
}

// operated runs the program, and requires success.
func (c *cloud) operated(args ...string) string {
	c.t.Helper()
	code, out, stderr := c.operate(args...)
	require.Equal(c.t, 0, code, "%s%s", out, stderr)
	return out
}

func TestSpec_cases_on_real_databases(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	ports := c.addGateways(4, "c1")

	// Rescheduling 1: a second chassis gets every gateway at priority 1.
	c.addChassis("c2")
	cost := schedule.Cost{Gateways: 4, Rows: 8}
	assert.Equal(t, cost, told[shownPlan](c, "reschedule", "--dry-run").Cost)
	assert.Equal(t, []string{"1 c1"}, c.candidates(ports[0]))
	assert.Equal(t, cost, told[shownPlan](c, "reschedule", "--wait", "0").Cost)
	for _, p := range ports {
		assert.Equal(t, []string{"2 c1", "1 c2"}, c.candidates(p))
		assert.Len(t, strings.Fields(c.scheduled(p)), 2, "SB has it too")
	}
	c.changesNothing("reschedule", "--wait", "0")

	// Rescheduling 2: the first chassis goes, and comes back behind the second.
	c.sbctl("chassis-del", "c1")
	c.operated("reschedule", "--wait", "0")
	assert.Equal(t, []string{"1 c2"}, c.candidates(ports[0]))
	c.addChassis("c1")
	c.operated("reschedule", "--wait", "0")
	assert.Equal(t, []string{"2 c2", "1 c1"}, c.candidates(ports[0]))

	// Rebalancing requires a confirmation.
	assert.Equal(t, 2, told[shownPlan](c, "rebalance", "--dry-run").Cost.Interruptions)
	code, _, _ := c.operate("rebalance")
	assert.Equal(t, 1, code)
	assert.Equal(t, map[string]int{"c2": 4}, c.masters(ports...))
	c.operated("rebalance", "--wait", "0", "--yes", "--max-moves", "1")
	assert.Equal(t, map[string]int{"c1": 1, "c2": 3}, c.masters(ports...))
	c.operated("rebalance", "--wait", "0", "--yes")
	assert.Equal(t, map[string]int{"c1": 2, "c2": 2}, c.masters(ports...))

	// Rebalancing 1 and 2: even, and as even as possible.
	c.changesNothing("rebalance", "--wait", "0", "--yes")
	ports = append(ports, c.addGateways(1, "c1", "c2")...)
	c.changesNothing("rebalance", "--wait", "0", "--yes")

	// Rescheduling 3 and rebalancing 3: a third chassis gets backups, then its share.
	ports = append(ports, c.addGateways(1, "c2", "c1")...)
	c.addChassis("c3")
	before := c.masters(ports...)
	c.operated("reschedule", "--wait", "0")
	assert.Equal(t, before, c.masters(ports...))
	assert.Len(t, c.candidates(ports[0]), 3)
	c.operated("rebalance", "--wait", "0", "--yes")
	assert.Equal(t, map[string]int{"c1": 2, "c2": 2, "c3": 2}, c.masters(ports...))

	// Rebalancing 4: a new network changes nothing.
	c.addNetwork("physnet2")
	c.changesNothing("rebalance", "--wait", "0", "--yes")
}

// Status commands and dry runs write nothing, not even a request for a sign of life.
func TestDryRun_writes_nothing(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addGateways(5, "c1", "c2")
	c.nbctl("--wait=sb", "sync")
	dump := func() string {
		return c.run("ovsdb-client", "dump", c.endpoint("nb")) + c.run("ovsdb-client", "dump", c.endpoint("sb"))
	}
	before := dump()
	c.operated("status")
	c.operated("history")
	assert.Len(t, told[shownPlan](c, "reschedule", "--dry-run").Changes, 5)
	assert.Len(t, told[shownPlan](c, "reschedule", "--dry-run", "--scheduler", "random", "--seed", "7").Changes, 5)
	c.operated("rebalance", "--dry-run", "--yes")
	c.operated("rebalance", "--dry-run", "--max-moves", "1", "--allow-new-candidates")
	picture := filepath.Join(t.TempDir(), "plan.svg")
	c.operated("plan", "reschedule", "--picture", picture)
	drawn, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.Contains(t, string(drawn), "<title>reschedule: gateways 5, ")
	assert.Equal(t, "rebalance", told[shownPlan](c, "plan").Operation)
	code, _, _ := c.operate("rebalance")
	assert.Equal(t, 1, code, "not confirmed")
	code, _, _ = c.operate("plan", "drain")
	assert.Equal(t, 2, code, "there is no such plan")
	code, _, _ = c.operate("plan", "--picture", t.TempDir())
	assert.Equal(t, 2, code, "a directory is no picture")
	pipe := filepath.Join(t.TempDir(), "pipe.svg")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	code, _, _ = c.operate("plan", "--picture", pipe)
	assert.Equal(t, 2, code, "neither is a pipe, nor a device")
	info, err := os.Lstat(pipe)
	require.NoError(t, err)
	assert.Equal(t, os.ModeNamedPipe, info.Mode().Type(), "what is no picture is left there")
	assert.Equal(t, before, dump())
}

// installed runs the program of the package.
func (c *cloud) installed(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	getenv := func(key string) string {
		switch key {
		case "OVN_NB_DB":
			return c.northbound()
		case "OVN_SB_DB":
			return c.endpoint("sb")
		}
		return os.Getenv(key)
	}
	code = cli.Main(c.t.Context(), append([]string{"ovn-gateways"}, args...), getenv, &out, &errs)
	return code, out.String(), errs.String()
}

func TestCommand_of_package(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	code, stdout, stderr := c.installed("status", "--exit-code")
	assert.Equal(t, 0, code, stdout+stderr)
	c.addGateways(2, "c1", "c2")
	c.operated("rebalance", "--yes", "--wait", "0")

	t.Run("nodes", func(t *testing.T) {
		code, stdout, stderr := c.installed("nodes", "drain", "c1")
		assert.Equal(t, 1, code, stdout)
		assert.Regexp(t, `next: ovn-gateways \S+ drain c1 --yes\n`, stderr)
		code, stdout, _ = c.installed("nodes", "list")
		assert.Equal(t, 0, code)
		assert.Contains(t, stdout, "c2.example")
	})
	t.Run("exit code", func(t *testing.T) {
		code, stdout, stderr := c.installed("status", "--exit-code", "-o", "json")
		assert.Contains(t, stdout, "NO_GATEWAY_BOUND", "no ovn-controller hosts a gateway")
		assert.Equal(t, 3, code, stdout+stderr)
		assert.Empty(t, stderr)
		code, _, _ = c.installed("status")
		assert.Equal(t, 0, code)
	})
	t.Run("completion", func(t *testing.T) {
		c.installed("nodes", "hold", "c2", "backup-runs")
		plan := regexp.MustCompile(`g[0-9a-f]{8}`).FindString(c.operated("history"))
		for line, offered := range map[string]string{
			"nodes drain ": "c1.example", "nodes release ": "c2.example", "nodes release c2 ": "backup-runs",
			"status --network ": "physnet1", "status -o ": "json",
			"reschedule --scheduler ": "random", "revisions --base ": "last-site-action", "history ": plan, "rebalance --revert ": plan,
		} {
			_, stdout, _ := c.installed(append([]string{"__complete"}, strings.Split(line, " ")...)...)
			assert.Contains(t, stdout, offered, line)
			assert.True(t, strings.HasSuffix(stdout, ":4\n"), "no files: %s", stdout)
		}
	})
}
