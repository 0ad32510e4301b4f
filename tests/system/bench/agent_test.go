package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/tests/system/transact"
)

// manyHosts are the chassis of the cloud that the agent follows, with 10,000 routers; the additional ones host nothing.
const manyHosts = 1000

// What an agent costs while nothing happens, at 10,000 routers and 1,000 chassis: at most 1 % of a core and 150 MB.
func BenchmarkIdleAgent(b *testing.B) {
	nb, sb := databases(b)
	fill(b, nb, "OVN_Northbound", northbound())
	fill(b, sb, "OVN_Southbound", append(southbound(), idleHosts()))
	network := loopbacktest.Network(b)
	agent := ovsdbtest.Run(b, nil, filepath.Join(charmDir, "dispatch"), "agent", "--unit", "ovn-central/0", "--nb", "unix:"+nb, "--sb", "unix:"+sb,
		"--listen", network+".1:16401", "--peer-listen", network+".1:16402")
	status := func() (s report.Status) {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+network+".1:16401"+report.Path, http.NoBody)
		require.NoError(b, err)
		if response, err := http.DefaultClient.Do(r); err == nil {
			_ = json.NewDecoder(response.Body).Decode(&s)
			_ = response.Body.Close()
		}
		return s
	}
	require.Eventually(b, func() bool {
		s := status()
		// Its first looks, as a standby and as the acting agent, are over.
		return s.Acts && s.Gateways.Chassis == manyHosts && s.Gateways.Gateways == gateways && s.Gateways.LookedSecondsAgo >= 10
	}, 2*time.Minute, look)
	var idle, window time.Duration
	for b.Loop() {
		before, begun := processor(b, agent.Pid), time.Now()
		require.NoError(b, poll.Wait(b.Context(), 20*time.Second))
		idle, window = idle+processor(b, agent.Pid)-before, window+time.Since(begun)
	}
	b.ReportMetric(100*float64(idle)/float64(window), "%-of-a-core")
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", agent.Pid))
	require.NoError(b, err)
	for metric, key := range map[string]string{"MiB-now": "VmRSS:", "MiB-max": "VmHWM:"} {
		_, rest, _ := strings.Cut(string(text), key)
		kib, err := strconv.Atoi(strings.Fields(rest)[0])
		require.NoError(b, err)
		b.ReportMetric(float64(kib)/1024, metric)
	}
}

func idleHosts() (all []transact.Operation) {
	for n := hosts; n < manyHosts; n++ {
		encap, chassis := fmt.Sprintf("encap%d", n), fmt.Sprintf("chassis%d", n)
		all = append(all, insert("Encap", encap, map[string]any{"type": "geneve", "ip": fmt.Sprintf("192.0.3.%d", n), "chassis_name": id(0, n)}),
			insert("Chassis", chassis, map[string]any{"name": id(0, n), "hostname": fmt.Sprintf("compute-%d.example.org", n), "encaps": named(encap)}),
			sign(n))
	}
	return all
}

// processor returns the processor time of a process (proc_pid_stat(5), in ticks of 10 ms).
func processor(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
	ticks := 0
	for _, field := range fields[12:14] {
		n, err := strconv.Atoi(field)
		require.NoError(b, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
