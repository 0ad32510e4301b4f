package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// staleReport has a cluster with one member that is down and belongs to no unit.
func staleReport() observe.Report {
	return observe.Report{Clusters: []observe.Cluster{
		{
			ServerState: observe.ServerState{
				Database: ovndb.NB, Condition: ovndb.Serving,
				Status: raft.Status{Name: string(ovndb.NB)},
			},
			Quorum: raft.Quorum{Members: 3, Up: 2},
			Rows: []observe.Row{
				{
					Peer:  raft.Peer{Member: raft.Member{Short: "aa04", Address: "ssl:10.0.0.5:6643"}, Up: true},
					Owner: observe.Owner{Unit: "ovn-central/0"},
				},
				{
					Peer:  raft.Peer{Member: raft.Member{Short: "13fe", Address: "ssl:10.0.0.7:6643"}},
					Owner: observe.Owner{Was: "ovn-central/2"},
				},
			},
		},
		{ServerState: observe.ServerState{
			Database: ovndb.SB, Condition: ovndb.Down,
			Err: ovsctl.ErrNotRunning,
		}},
	}}
}

func TestDocument_has_results_of_actions_with_age(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, now := newTestAgent(t)
		a.clusters.servers.Observe = sees(staleReport())
		ctx, cancel := context.WithCancel(t.Context())
		go a.clusters.run(ctx)
		synctest.Wait()
		group := schedule.Group{
			Name: "lrp-1", Storage: schedule.GatewayChassis,
			Ports: []schedule.Port{{Name: "lrp-1", Network: "net"}},
		}
		state := schedule.State{Groups: []schedule.Group{group}}
		a.gateways.recordObservation(&gateway.Inventory{State: state}, schedule.Plan{}, false, *now)
		*now += 3 * time.Second
		answer := get(t, a, "/status")
		require.Equal(t, http.StatusOK, answer.Code)
		var got struct {
			Unit     string `json:"unit"`
			Gateways struct {
				LookedSecondsAgo float64 `json:"looked_seconds_ago"`
			} `json:"gateways"`
			GatewayStatus json.RawMessage `json:"gateway_status"`
			ClusterStatus struct {
				LookedSecondsAgo float64 `json:"looked_seconds_ago"`
				NB               struct {
					Members []struct {
						Unit string `json:"unit"`
					} `json:"members"`
				} `json:"ovnnb"`
				SB      map[string]string  `json:"ovnsb"`
				Orphans []finding.Document `json:"orphans"`
			} `json:"cluster_status"`
		}
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &got))
		c := got.ClusterStatus
		assert.Equal(t, a.config.Unit, got.Unit)
		assert.InDelta(t, 3, got.Gateways.LookedSecondsAgo, 0.1)
		evaluated, err := json.Marshal(document.ForPrograms(schedule.Evaluate(state, schedule.Options{})))
		require.NoError(t, err)
		assert.JSONEq(t, string(evaluated), string(got.GatewayStatus))
		assert.Contains(t, string(evaluated), "lrp-1", "this test can fail")
		assert.InDelta(t, 3, c.LookedSecondsAgo, 0.1)
		require.Len(t, c.NB.Members, 2)
		assert.Equal(t, "ovn-central/0", c.NB.Members[0].Unit)
		assert.Equal(t, observe.ServerState{Condition: ovndb.Down}.Text(), c.SB["reason"])
		require.Len(t, c.Orphans, 1)
		assert.Equal(t, "MEMBER_UNOWNED nb", c.Orphans[0].Code+" "+c.Orphans[0].Subject)
		assert.Contains(t, c.Orphans[0].Message, "13fe")
		text := exports(t, a, `ovn_central_members{database="nb"} 3`, `ovn_central_members_up{database="nb"} 2`,
			`ovn_central_fault_tolerance{database="nb"} 0`, "ovn_central_orphans 1")
		assert.NotContains(t, text, `ovn_central_members{database="sb"}`, "it is not served here")
		cancel()
		synctest.Wait()
	})
}

// Time is simulated (testing/synctest): Sleep returns when all other goroutines are waiting.
func TestEligibility_needs_working_northd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		advance := time.Sleep // the clock of the bubble
		a, _ := newTestAgent(t)
		var health atomic.Value
		health.Store(ovndb.NorthdUnresponsive)
		a.clusters.servers.Observe = func(context.Context) (observe.Report, ovndb.NorthdHealth) {
			return observe.Report{}, health.Load().(ovndb.NorthdHealth)
		} //nolint:forcetypeassert // nothing else is stored
		ctx, cancel := context.WithCancel(t.Context())
		go a.clusters.run(ctx)
		synctest.Wait()
		assert.Empty(t, a.status().Northd, "one look may have met an election")
		advance(clusterPause)
		synctest.Wait()
		assert.Contains(t, a.status().Northd, string(ovndb.NorthdUnresponsive))
		assert.Contains(t, document.Agent(a.status()), a.status().Northd+": ")
		health.Store(ovndb.NorthdStandby)
		advance(clusterPause)
		synctest.Wait()
		assert.Empty(t, a.status().Northd)
		cancel()
		synctest.Wait()
	})
}

// R0: the second observation of a damaged file is published until one attempt succeeds. If no hook has published that
// the file is whole again, the agent publishes that too.
func TestPublishDamage_once_per_state(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := newTestAgent(t)
		var damage atomic.Value
		var published atomic.Bool
		damage.Store("record 9 has entry 8")
		a.clusters.servers.Observe = func(context.Context) (observe.Report, ovndb.NorthdHealth) {
			r := staleReport()
			c := &r.Clusters[0]
			c.Status.Server, c.Checked = "a1", true
			c.Damage = finding.Quote(damage.Load().(string)) //nolint:forcetypeassert // nothing else is stored
			if !c.Damage.IsZero() || published.Load() {
				c.View.Lost = []raft.ID{"a1"}
			}
			return r, ""
		}
		var mu sync.Mutex
		var tries []string
		a.clusters.servers.PublishDamage = func(_ context.Context, server observe.ServerState, missing string) error {
			mu.Lock()
			defer mu.Unlock()
			tries = append(tries, server.Database.Short()+": "+missing)
			if len(tries) == 1 {
				return errors.New("no leader")
			}
			return nil
		}
		go a.clusters.run(t.Context())
		advance := time.Sleep // the clock of the bubble
		after := func(observations int, wanted int) {
			t.Helper()
			for range observations {
				advance(clusterPause)
			}
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			assert.Len(t, tries, wanted)
		}
		after(0, 0) // a follower may just have dropped entries that were not committed
		after(1, 1)
		after(1, 2)
		after(3, 2)
		damage.Store("") // a hook rewrote the file and withdrew the note
		after(1, 2)
		damage.Store("record 19 has entry 18")
		after(1, 2)
		after(2, 3)
		published.Store(true)
		damage.Store("") // no charm
		after(1, 3)
		after(3, 4)
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, []string{
			"nb: record 9 has entry 8", "nb: record 9 has entry 8", "nb: record 19 has entry 18",
			"nb: ",
		}, tries)
	})
}
