package gateways

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// killing is a cloud in which the program is killed at each of its transactions.
type killing struct {
	*cloud
	ports []string
	// clock advances by that many seconds whenever it is read, so that no wait takes long.
	clock   atomic.Int64
	seconds int64
}

func newKilling(t *testing.T) *killing {
	t.Helper()
	k := &killing{cloud: newCloud(t, "c1", "c2", "c3"), seconds: 1}
	k.ports = k.addGateways(4, "c1", "c2", "c3")
	k.ports = append(k.ports, k.addGateways(2, "c2", "c1", "c3")...)
	return k
}

// service returns the service of a new process of the program.
func (k *killing) service() *node.Service {
	s, begun := k.patient(), time.Now()
	s.Gateways.Now = func() time.Time { return begun.Add(time.Duration(k.clock.Add(k.seconds)) * time.Second) }
	return s
}

type operation func(*killing, context.Context, *node.Service) answer.Status

func (k *killing) drain(ctx context.Context, s *node.Service) answer.Status {
	return s.Drain(ctx, draining(time.Hour))
}

func (k *killing) undrain(ctx context.Context, s *node.Service) answer.Status {
	return s.Undrain(ctx, node.Request{Node: "c1", Confirmed: true})
}

func (k *killing) clearLabels(ctx context.Context, s *node.Service) answer.Status {
	return s.ClearLabels(ctx, node.Request{Node: "c1", Clear: patience})
}

func (k *killing) decommission(ctx context.Context, s *node.Service) answer.Status {
	return s.Decommission(ctx, node.Request{Node: "c1", Limits: maintenance.Limits{Timeout: time.Hour}, Clear: patience, Confirmed: true})
}

func (k *killing) remove(ctx context.Context, s *node.Service) answer.Status {
	return s.Remove(ctx, node.Request{Node: "c1", Confirmed: true})
}

// agent makes steps of a drain as the agent does; it does nothing if there is no drain.
func (k *killing) agent(ctx context.Context, s *node.Service) answer.Status {
	for range 2 {
		_, _, err := s.Effects("c1", nil).Move(ctx)
		require.NoError(k.t, err)
	}
	return answer.New(answer.Success, "")
}

func (k *killing) works(t *testing.T, do operation) {
	t.Helper()
	s := k.service()
	defer s.Close()
	status := do(k, t.Context(), s)
	require.Equal(t, 200, status.Code, document.Answer(status))
}

// killedAt kills an operation at one of its transactions, and reports whether the operation had that many.
func (k *killing) killedAt(t *testing.T, number int, at fate, do operation) bool {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	killed := false
	s, r := k.service(), &relay{}
	r.before = func(n int) fate {
		if n == number {
			killed = true
			return at
		}
		return passes
	}
	r.ended = func() { cancel(errors.New("killed")) }
	k.relayTo(t, s.Gateways, r)
	status := do(k, ctx, s)
	s.Close()
	r.kill()
	if !killed {
		require.Equal(t, 200, status.Code, document.Answer(status))
	}
	return killed
}

var recordKey = regexp.MustCompile(`"?(ovn-central:(?:maintenance|maintenance-by|drain|hold)/c1[^"=]*)"?=("?(?:true|false)"?)?`)

// state returns everything that both databases have of the node and of gateways, except times and names of plans.
func (k *killing) state() string {
	k.t.Helper()
	var lines []string
	for _, match := range recordKey.FindAllStringSubmatch(k.nbctl("get", "NB_Global", ".", "external_ids"), -1) {
		lines = append(lines, match[1]+" "+strings.Trim(match[2], `"`))
	}
	slices.Sort(lines)
	for _, e := range k.history().Plans {
		if e.Left > 0 {
			lines = append(lines, fmt.Sprintf("unfinished: %s %d", e.Operation, e.Left))
		}
	}
	for _, table := range []string{"Chassis", "Chassis_Private"} {
		names := strings.Fields(k.sbctl("--bare", "--columns=name", "list", table))
		slices.Sort(names)
		lines = append(lines, table+" "+strings.Join(names, " "))
	}
	return k.ranks() + "\n" + strings.Join(lines, "\n")
}

// restore makes the node a candidate again, as Neutron would, and ends its drain.
func (k *killing) restore(t *testing.T) {
	t.Helper()
	k.works(t, (*killing).undrain)
	var args []string
	for i, port := range k.ports {
		list := []string{"c1", "c2", "c3"}
		if i >= 4 {
			list = []string{"c2", "c1", "c3"}
		}
		args = append(append(args, setCandidates(port, port, list...)...), "--")
	}
	k.nbctl(args[:len(args)-1]...)
}

// Each operation on a node is killed at each of its transactions, right before the database gets it and right after it
// was carried out. Then the agent, the command and an undrain continue, in several orders. The final result is the same
// as without the kill.
func TestNodeOperations_killed_at_each_transaction(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// prepare makes the state in which the operation begins; restore restores the state in which prepare begins.
		prepare, restore func(*killing, *testing.T)
		do               operation
		// then has the ways to continue; ends has the operations after do that lead to the same state without a kill.
		then map[string][]operation
		ends map[string][]operation
		// least is the least number of transactions of the operation.
		least int
	}{
		"drain": {
			do: (*killing).drain, restore: func(k *killing, t *testing.T) {
				t.Helper()
				k.works(t,
					(*killing).undrain)
			}, least: 3,
			then: map[string][]operation{
				"the command": {(*killing).drain}, "the agent, the command": {(*killing).agent, (*killing).drain}, "an undrain": {(*killing).undrain}, "the agent, an undrain": {(*killing).agent, (*killing).undrain},
			},
			ends: map[string][]operation{"an undrain": {(*killing).undrain}, "the agent, an undrain": {(*killing).undrain}},
		},
		"undrain": {
			prepare: func(k *killing, t *testing.T) {
				t.Helper()
				k.works(t,
					(*killing).drain)
			}, do: (*killing).undrain, least: 5,
			then: map[string][]operation{"the command": {(*killing).undrain}, "the agent, the command": {(*killing).agent, (*killing).undrain}},
		},
		"clear-labels": {
			prepare: func(k *killing, t *testing.T) {
				t.Helper()
				k.works(t,
					(*killing).drain)
			}, do: (*killing).clearLabels, restore: (*killing).restore, least: 2,
			then: map[string][]operation{"the command": {(*killing).clearLabels}, "the agent, the command": {(*killing).agent, (*killing).clearLabels}},
		},
		"decommission": {
			do: (*killing).decommission, restore: (*killing).restore, least: 5,
			then: map[string][]operation{"the command": {(*killing).decommission}, "the agent, the command": {(*killing).agent, (*killing).decommission}},
		},
		"remove-node": {
			prepare: func(k *killing, t *testing.T) {
				t.Helper()
				k.seconds = 20 // without a response for 15 s, a node counts as dead
				k.works(t, (*killing).decommission)
				k.sbctl("create", "Chassis_Private", "name=c1")
				k.nbctl("--wait=sb", "sync")
			},
			do: (*killing).remove, restore: func(k *killing,
				t *testing.T,
			) {
				t.Helper()
				k.addChassis("c1")
				k.restore(t)
			}, least: 3,
			then: map[string][]operation{"the command": {(*killing).remove}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKilling(t)
			prepare, restore := orNothing(test.prepare), orNothing(test.restore)
			prepare(k, t)
			k.works(t, test.do)
			whole := k.state()
			restore(k, t)
			for way, then := range test.then {
				want := whole
				if end := test.ends[way]; end != nil {
					prepare(k, t)
					for _, do := range append([]operation{test.do}, end...) {
						k.works(t, do)
					}
					want = k.state()
				}
				points := 0
				for _, at := range []fate{killedBefore, killedAfter} {
					for number := 1; ; number++ {
						prepare(k, t)
						killed := k.killedAt(t, number, at, test.do)
						if killed {
							points++
							for _, do := range then {
								k.finishes(t, do)
							}
							require.Equal(t, want, k.state(), "killed at %d (%d), then %s", number, at, way)
						}
						restore(k, t)
						if !killed {
							break
						}
					}
				}
				assert.GreaterOrEqual(t, points, 2*test.least)
				t.Logf("killed at %d points, then %s", points, way)
			}
		})
	}
}

// finishes runs an operation, which may have nothing left to do: the node may already be removed.
func (k *killing) finishes(t *testing.T, do operation) {
	t.Helper()
	s := k.service()
	defer s.Close()
	status := do(k, t.Context(), s)
	require.Contains(t, []int{200, 404}, status.Code, document.Answer(status))
}

func orNothing(do func(*killing, *testing.T)) func(*killing, *testing.T) {
	if do == nil {
		return func(*killing, *testing.T) {}
	}
	return do
}
