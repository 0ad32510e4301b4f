package bench

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// How the time that plans take grows with the cloud, in the processor's time, which other
// programs disturb less: from 10,000 gateways on 200 chassis to 100,000 on 1,000, and to
// 100,000 on the same 200. Bound: n log n of the gateways, which is 12.5 times.
func BenchmarkGrowthOfPlans(b *testing.B) {
	small, large, same := plans(gateways, hosts), plans(10*gateways, 5*hosts), plans(10*gateways, hosts)
	bound := 10 * math.Log(10*gateways) / math.Log(gateways)
	for _, operation := range []string{"fresh", "removal", "return", "rebalance"} {
		b.Run(operation, func(b *testing.B) {
			var little, much, many time.Duration
			for b.Loop() {
				little += processorTime(b, small[operation], 30) / 30
				much += processorTime(b, large[operation], 3) / 3
				many += processorTime(b, same[operation], 3) / 3
			}
			b.ReportMetric(float64(much)/float64(little)/bound, "times-n-log-n")
			b.ReportMetric(float64(many)/float64(little)/bound, "times-n-log-n-same-chassis")
			b.ReportMetric(little.Seconds()/float64(b.N), "cpu-s-10k")
			b.ReportMetric(much.Seconds()/float64(b.N), "cpu-s-100k")
		})
	}
}

// plans are the operations on a cloud of some gateways: with no candidate yet, with one
// chassis gone, with it back, and with the load on few chassis.
func plans(count, chassis int) map[string]func() schedule.Plan {
	var fresh schedule.State
	var all []string
	for n := range networks {
		all = append(all, network(n))
	}
	for n := range chassis {
		fresh.Chassis = append(fresh.Chassis, schedule.Chassis{Name: fmt.Sprintf("chassis-%04d", n), Gateway: true, Networks: all})
	}
	for n := range count {
		name := fmt.Sprintf("lrp-%06d", n)
		fresh.Groups = append(fresh.Groups, schedule.Group{
			Name: name, Storage: schedule.GatewayChassis, Ports: []schedule.Port{{Name: name, Network: network(n % networks)}},
		})
	}
	full := carriedOut(fresh)
	without := schedule.State{Chassis: full.Chassis[1:], Groups: full.Groups}
	back := carriedOut(without)
	back.Chassis = full.Chassis
	lopsided := schedule.State{Chassis: full.Chassis, Groups: slices.Clone(full.Groups)}
	for i, g := range lopsided.Groups {
		byName := slices.SortedFunc(slices.Values(g.Candidates), func(a, b schedule.Candidate) int { return cmp.Compare(a.Chassis, b.Chassis) })
		for rank := range byName {
			byName[rank].Priority = len(byName) - rank
		}
		lopsided.Groups[i].Candidates = byName
	}
	return map[string]func() schedule.Plan{
		"fresh":     func() schedule.Plan { return schedule.Reschedule(fresh, schedule.Options{}) },
		"removal":   func() schedule.Plan { return schedule.Reschedule(without, schedule.Options{}) },
		"return":    func() schedule.Plan { return schedule.Reschedule(back, schedule.Options{}) },
		"rebalance": func() schedule.Plan { return schedule.Rebalance(lopsided, schedule.Options{}) },
	}
}

// carriedOut is the state after it was rescheduled.
func carriedOut(s schedule.State) schedule.State {
	changed := map[string][]schedule.Candidate{}
	for _, c := range schedule.Reschedule(s, schedule.Options{}).Changes {
		changed[c.Group] = c.After
	}
	s.Groups = slices.Clone(s.Groups)
	for i, g := range s.Groups {
		if candidates, found := changed[g.Name]; found {
			s.Groups[i].Candidates = candidates
		}
	}
	return s
}

// processorTime is what all threads take for some plans, those of the garbage collector
// included.
func processorTime(b *testing.B, plan func() schedule.Plan, times int) time.Duration {
	b.Helper()
	runtime.GC()
	begun := used(b)
	for range times {
		require.False(b, plan().Empty())
	}
	return used(b) - begun
}

// used is the processor's time that the process has taken.
func used(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
