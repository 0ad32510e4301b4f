package bench

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// The cloud whose databases are read: a router each with a gateway in one of the networks, and its candidates.
const (
	gateways   = 10_000
	hosts      = 200
	candidates = 5
	networks   = 4
)

// Reading both databases' gateways, against ovn-nbctl and ovn-sbctl on the same columns. Bounds: 3.5 times, 300 MB.
func BenchmarkSnapshotAgainstCtl(b *testing.B) {
	nb, sb := databases(b)
	fill(b, nb, "OVN_Northbound", northbound())
	fill(b, sb, "OVN_Southbound", southbound())
	var north, whole, compose, nbctl, sbctl, program time.Duration
	var memory, memoryNbctl int64
	for b.Loop() {
		took, peak := measured(b, reader("ovn-nbctl", nb, map[string]string{
			"Logical_Router": "name,ports,external_ids", "Logical_Router_Port": "name,gateway_chassis,ha_chassis_group,external_ids",
			"Logical_Switch": "name,ports", "Logical_Switch_Port": "name,type,options,ha_chassis_group",
			"Gateway_Chassis": "name,chassis_name,priority", "HA_Chassis": "chassis_name,priority",
			"HA_Chassis_Group": "name,ha_chassis,external_ids", "NB_Global": "name,nb_cfg",
		})...)
		nbctl, memoryNbctl = nbctl+took, max(memoryNbctl, peak)
		took, _ = measured(b, reader("ovn-sbctl", sb, map[string]string{
			"Chassis": "name,hostname,other_config,external_ids", "Chassis_Private": "name,nb_cfg,nb_cfg_timestamp",
			"Port_Binding": "logical_port,type,chassis", "SB_Global": "nb_cfg",
		})...)
		sbctl += took

		begun := time.Now()
		g, err := new(ovsdb.Dialer).Gateways(b.Context(), []string{"unix:" + nb}, []string{"unix:" + sb})
		require.NoError(b, err)
		n, err := g.Northbound(b.Context())
		require.NoError(b, err)
		north += time.Since(begun)
		s, err := g.Southbound(b.Context())
		require.NoError(b, err)
		g.Close()
		composing := time.Now()
		cloud := gateway.BuildInventory(n, s)
		compose += time.Since(composing)
		whole += time.Since(begun)
		complete(b, cloud)

		took, peak = measured(b, filepath.Join(charmDir, "dispatch"), "gateways", "status", "--nb", "unix:"+nb, "--sb", "unix:"+sb)
		program, memory = program+took, max(memory, peak)
	}
	count := float64(b.N)
	b.ReportMetric(float64(whole)/float64(nbctl+sbctl), "times-nbctl-and-sbctl")
	b.ReportMetric(float64(north)/float64(nbctl), "NB-times-nbctl")
	b.ReportMetric(float64(program)/float64(nbctl+sbctl), "program-times-nbctl-and-sbctl")
	b.ReportMetric(whole.Seconds()/count, "s-snapshot")
	b.ReportMetric(compose.Seconds()/count, "s-of-it-compose")
	b.ReportMetric(nbctl.Seconds()/count, "s-nbctl")
	b.ReportMetric(sbctl.Seconds()/count, "s-sbctl")
	b.ReportMetric(float64(memory)/1024, "MiB-max")
	b.ReportMetric(float64(memoryNbctl)/1024, "MiB-max-nbctl")
}

func complete(b *testing.B, c *gateway.Inventory) {
	b.Helper()
	require.Empty(b, c.Findings)
	require.Len(b, c.State.Chassis, hosts)
	require.Len(b, c.State.Groups, gateways)
	for _, g := range c.State.Groups {
		require.Len(b, g.Candidates, candidates)
		require.NotEmpty(b, g.Ports[0].Network)
		require.NotEmpty(b, g.Ports[0].Active)
	}
}

// measured runs a program, and returns how long it took and the most memory that it had, in KiB. Maxrss would not do:
// it begins with what the parent had, which is much here (exec_mmap in the kernel's fs/exec.c).
func measured(b *testing.B, command ...string) (took time.Duration, peak int64) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	begun := time.Now()
	require.NoError(b, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	for {
		select {
		case err := <-ended:
			require.NoError(b, err, errs.String())
			return time.Since(begun), peak
		case <-time.After(look):
			text, _ := os.ReadFile(status) // none when it has just ended
			if _, rest, found := strings.Cut(string(text), "\nVmHWM:"); found {
				kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				require.NoError(b, err)
				peak = max(peak, kib)
			}
		}
	}
}

// reader returns a command that reads columns and prints nothing, which would take time too.
func reader(program, socket string, columns map[string]string) []string {
	command := []string{program, "--no-leader-only", "--timeout=60", "--db=unix:" + socket}
	for i, table := range slices.Sorted(maps.Keys(columns)) {
		if i > 0 {
			command = append(command, "--")
		}
		first, _, _ := strings.Cut(columns[table], ",")
		command = append(command, "--columns="+columns[table], "find", table, first+"=-1") // no name, and no nb_cfg
	}
	return command
}

// databases starts an empty server of each database, until the test ends, and returns their sockets.
func databases(b *testing.B) (nb, sb string) {
	b.Helper()
	start := func(d ovndb.Database) string {
		return ovsdbtest.New(b, d, "").Standalone(b).Start(b).Paths.Socket(d)
	}
	return start(ovndb.NB), start(ovndb.SB)
}

// node-status of 1,000 chassis, of which 200 host 10,000 gateways, against gateway-status. Bound: 2 times.
func BenchmarkNodeStatusAgainstGatewayStatus(b *testing.B) {
	nb, sb := databases(b)
	fill(b, nb, "OVN_Northbound", northbound())
	fill(b, sb, "OVN_Southbound", append(southbound(), idleHosts()))
	var nodes, status time.Duration
	var memory int64
	for b.Loop() {
		took, _ := measured(b, filepath.Join(charmDir, "dispatch"), "gateways", "status", "--nb", "unix:"+nb, "--sb", "unix:"+sb)
		status += took
		took, peak := measured(b, filepath.Join(charmDir, "dispatch"), "nodes", "list", "--nb", "unix:"+nb, "--sb", "unix:"+sb)
		nodes, memory = nodes+took, max(memory, peak)
	}
	b.ReportMetric(float64(nodes)/float64(status), "times-gateway-status")
	b.ReportMetric(nodes.Seconds()/float64(b.N), "s-node-status")
	b.ReportMetric(status.Seconds()/float64(b.N), "s-gateway-status")
	b.ReportMetric(float64(memory)/1024, "MiB-max")
}
