package bench

import (
	"path/filepath"
	"testing"
	"time"
)

// What node-status shows of 1,000 chassis, of which 200 host 10,000 gateways, against gateway-status of the
// same. Bound: 2 times.
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
