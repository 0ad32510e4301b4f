package schedule_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// cloud returns n gateways in 4 networks. Every chassis is connected to all of them.
func cloud(n, chassisCount int) schedule.State {
	networks := []string{"physnet0", "physnet1", "physnet2", "physnet3"}
	var s schedule.State
	for i := range chassisCount {
		s.Chassis = append(s.Chassis, chassis(fmt.Sprintf("chassis-%04d", i), networks...))
	}
	for i := range n {
		s.Groups = append(s.Groups, hostedIn(networks[i%len(networks)], i))
	}
	return s
}

func failed(s schedule.State, name string) schedule.State {
	s.Chassis = slices.DeleteFunc(slices.Clone(s.Chassis), func(c schedule.Chassis) bool { return c.Name == name })
	return s
}

// rolled returns the state after all chassis were restarted one after the other, with two reschedules for each restart,
// as Neutron does.
func rolled(s schedule.State) schedule.State {
	for _, c := range s.Chassis {
		without := failed(s, c.Name)
		without = applied(without, schedule.Reschedule(without, schedule.Options{}))
		s = schedule.State{Chassis: s.Chassis, Groups: without.Groups}
		s = applied(s, schedule.Reschedule(s, schedule.Options{}))
	}
	return s
}

// A fresh schedule, the removal of a chassis, its return, and a rebalancing after a rolling restart each take less than
// 0.2 s and 200 MB with 10,000 gateways on 200 chassis.
func BenchmarkPlan(b *testing.B) {
	for _, size := range []struct{ gateways, chassis int }{{1000, 50}, {10000, 200}} {
		fresh := cloud(size.gateways, size.chassis)
		full := applied(fresh, schedule.Reschedule(fresh, schedule.Options{}))
		first := full.Chassis[0].Name
		without := failed(full, first)
		returned := applied(without, schedule.Reschedule(without, schedule.Options{}))
		returned.Chassis = full.Chassis
		restarted := rolled(full)
		for name, plan := range map[string]func() schedule.Plan{
			"fresh":     func() schedule.Plan { return schedule.Reschedule(fresh, schedule.Options{}) },
			"removal":   func() schedule.Plan { return schedule.Reschedule(without, schedule.Options{}) },
			"return":    func() schedule.Plan { return schedule.Reschedule(returned, schedule.Options{}) },
			"rebalance": func() schedule.Plan { return schedule.Rebalance(restarted, schedule.Options{}) },
		} {
			b.Run(fmt.Sprintf("%s/%d-on-%d", name, size.gateways, size.chassis), func(b *testing.B) {
				var p schedule.Plan
				b.ReportAllocs()
				for b.Loop() {
					p = plan()
				}
				b.ReportMetric(float64(len(p.Changes)), "changes")
				worst := 0
				for _, n := range p.After {
					worst = max(worst, n.Spread())
				}
				b.ReportMetric(float64(worst), "spread")
			})
		}
	}
}
