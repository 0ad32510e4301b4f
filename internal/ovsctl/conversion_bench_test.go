//go:build programs

package ovsctl_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// fill writes flows until the server's file has mib MiB.
func (s *server) fill(t testing.TB, mib int64) {
	t.Helper()
	for n := 0; raftfile.Size(s.Paths.File(s.Database)) < mib<<20; {
		var flows []any
		for range 2000 {
			n++
			match := fmt.Sprintf(`ip4 && ip4.src == 10.%d.%d.%d && inport == "p-%032x" && `+
				`(ct.est && !ct.rpl && ct_label.blocked == 0)`, n>>16&255, n>>8&255, n&255, n)
			ids := fmt.Sprintf(`["map",[["source","northd.c:%d"],["stage-name","ls_in_acl"]]]`, n%9000)
			flows = append(flows, object{"op": "insert", "table": "Logical_Flow", "row": object{
				"pipeline": "ingress", "table_id": n % 30, "priority": 1000 + n%1000, "match": match, "actions": "next;",
				"external_ids": json.RawMessage(ids),
			}})
		}
		require.NoError(t, s.Transact(time.Minute, flows...))
	}
}

// write writes a small row.
func (s *server) write(n int) error {
	return s.Transact(2*time.Second, object{"op": "insert", "table": "Controller_Event", "row": object{
		"event_type": "empty_lb_backends", "event_info": []any{"map", []any{[]any{"row", fmt.Sprint(n)}}},
	}})
}

// gaps writes through the members until stop is closed, and returns the longest time without an acknowledged write.
func gaps(members []*server, stop chan struct{}, wg *sync.WaitGroup) *time.Duration {
	longest := new(time.Duration)
	wg.Go(func() {
		last := time.Now()
		for n := 0; ; n++ {
			select {
			case <-stop:
				*longest = max(*longest, time.Since(last))
				return
			case <-time.After(20 * time.Millisecond):
			}
			if members[n%len(members)].write(n) != nil {
				continue
			}
			*longest = max(*longest, time.Since(last))
			last = time.Now()
		}
	})
	return longest
}

// large starts a cluster of three whose database has mib MiB and an older schema.
func large(t testing.TB, mib int64, timer time.Duration) []*server {
	t.Helper()
	servers := ovsdbtest.Several(t, ovndb.SB, 3)
	servers[0].Timer = timer
	servers[0].Schema = edited(t, ovndb.SB, "20.0.0", func(tables object) {
		delete(ovsdbtest.ColumnsOf(tables, "Chassis"), "other_config")
	})
	members := all(ovsdbtest.Form(t, servers...))
	members[0].fill(t, mib)
	return members
}

// number reads a number from the environment.
func number(b *testing.B, name string, otherwise float64) float64 {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(b, err)
	return n
}

// BenchmarkConversion measures how long a conversion takes at an election timer, how long nothing can be written
// meanwhile, and how many elections there are. The environment's variables SIZE and TIMER are in MiB and seconds.
func BenchmarkConversion(b *testing.B) {
	timer := time.Duration(number(b, "TIMER", 24) * float64(time.Second))
	members := large(b, int64(number(b, "SIZE", 20)), timer)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	longest := gaps(members, stop, &writer)
	patient := members[0].control()
	patient.Timeout = time.Minute
	before, err := patient.Status(b.Context(), ovndb.SB)
	require.NoError(b, err)
	b.ResetTimer()
	start := time.Now()
	err = ovsctl.Files{Runner: run.Exec{}, Paths: members[0].Paths}.Convert(b.Context(), ovndb.SB, 10*time.Minute)
	b.ReportMetric(time.Since(start).Seconds(), "s")
	b.StopTimer()
	var after raft.Status
	require.Eventually(b, func() bool {
		if err := members[1].write(-1); err != nil {
			return false
		}
		after, err = patient.Status(b.Context(), ovndb.SB)
		return err == nil
	}, 5*time.Minute, time.Second)
	close(stop)
	writer.Wait()
	b.ReportMetric(longest.Seconds(), "s-gap")
	b.ReportMetric(float64(after.Term-before.Term), "elections")
	require.NoError(b, err)
}
