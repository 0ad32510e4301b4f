package agent

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// healthyReport has one member of each database; it leads.
func healthyReport() (r observe.Report) {
	for _, d := range ovndb.Databases() {
		self := raft.Member{Short: "aa04", Address: "ssl:10.0.0.5:6643", Self: true}
		status := raft.Status{
			Name: string(d), State: raft.ClusterMember, Role: raft.Leader, Leader: raft.Self,
			Servers: []raft.Member{self},
		}
		c := observe.Cluster{
			ServerState: observe.ServerState{Database: d, Condition: ovndb.Serving, Status: status},
			View:        raft.View{Status: status},
		}
		c.Quorum = c.View.Quorum()
		c.Rows = []observe.Row{{Peer: c.View.Peers()[0], Owner: observe.Owner{Unit: "u/0"}}}
		r.Clusters = append(r.Clusters, c)
	}
	return r
}

// ask sends a request such as "GET /path".
func (o *operations) ask(t *testing.T, request string) (code int, s answer.Status) {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	w := httptest.NewRecorder()
	o.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody))
	if w.Header().Get("Content-Type") == "application/json" {
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &s), request)
		assert.Equal(t, s.Code, w.Code)
	}
	return w.Code, s
}

// Invalid requests are refused before any database is asked.
func TestOperations_bad_requests_are_refused(t *testing.T) {
	t.Parallel()
	o := &operations{running: make(chan struct{}, maxOperations), open: func() *node.Service {
		assert.Fail(t, "the databases are asked")
		return nil
	}}
	for request, parameter := range map[string]string{
		"POST /nodes/c1/drain?timeout=1h":                         "timeout is ",
		"POST /nodes/c1/drain?timeout=0":                          "timeout is ",
		"POST /nodes/c1/drain?timeout=9001":                       "timeout is ",
		"POST /nodes/c1/drain?drain-node-timeout=1":               "no parameter drain-node-timeout",
		"POST /nodes/c1/decommission?remove-etcd-timeout=-1":      "remove-etcd-timeout is ",
		"POST /nodes/c1/decommission?force=yes":                   "force is ",
		"GET /etcd-cluster-health-statuses?min-members=101":       "min-members is ",
		"POST /nodes/c1/remove-from-cluster?i-really-mean-it=yes": "no parameter i-really-mean-it",
	} {
		_, s := o.ask(t, request)
		assert.Equal(t, answer.BadRequest, s.Reason)
		assert.Contains(t, s.Message, parameter, request)
	}
	for request, want := range map[string]int{
		"GET /nodes/c1/drain": 405, "POST /cluster-health-statuses": 405, "POST /nodes/c1/shutdown": 404, "GET /": 404,
	} {
		code, _ := o.ask(t, request)
		assert.Equal(t, want, code, request)
	}
}

// 002-7: unknown is unhealthy, and an answer needs a new observation: the last one may be older than the request.
func TestClusterHealth_observes_now_and_unknown_is_unhealthy(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.clusters.last.Store(&clusterObservation{report: healthyReport(), at: time.Second})
	*now = 24 * time.Hour
	o := &operations{running: make(chan struct{}, maxOperations), open: a.nodes}
	for _, c := range []struct {
		seen   observe.Report
		reason answer.Reason
		errors int
	}{
		{observe.Report{}, answer.ClusterNotAccessible, 2},
		{staleReport(), answer.ClusterNotAccessible, 1},
		{healthyReport(), answer.Success, 0},
	} {
		a.clusters.servers.Observe = sees(c.seen)
		_, s := o.ask(t, "GET /cluster-health-statuses")
		assert.Equal(t, c.reason, s.Reason, document.Answer(s))
		assert.Equal(t, c.errors, s.Details.ErrorCount)
	}
}

// A standalone database that answers is up. One whose server does not answer is not.
func TestClusterHealth_standalone(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	o := &operations{running: make(chan struct{}, maxOperations), open: a.nodes}
	for _, c := range []struct {
		err     error
		query   string
		reason  answer.Reason
		healthy string
		metric  string
	}{
		{ovsctl.ErrNotClustered, "", answer.Success, "2 of 2", `ovn_central_server_up{database="nb"} 1`},
		{ovsctl.ErrNotClustered, "?min-members=2", answer.Success, "0 of 2", `ovn_central_server_up{database="nb"} 1`},
		{ovsctl.ErrNotRunning, "", answer.ClusterNotAccessible, "0 of 2", `ovn_central_server_up{database="nb"} 0`},
	} {
		var r observe.Report
		for _, d := range ovndb.Databases() {
			r.Clusters = append(r.Clusters, observe.Cluster{
				ServerState: observe.ServerState{Database: d, Condition: ovndb.Standalone, Err: c.err},
			})
		}
		a.clusters.servers.Observe = sees(r)
		a.clusters.last.Store(&clusterObservation{report: r, at: *now})
		_, s := o.ask(t, "GET /cluster-health-statuses"+c.query)
		assert.Equal(t, c.reason, s.Reason, document.Answer(s))
		assert.Contains(t, s.Message, c.healthy)
		assert.Contains(t, get(t, a, "/metrics").Body.String(), c.metric)
	}
}

// Units are known by the members of both configurations, from the last hook, and from other agents.
func TestCharm_knows_units_of_members_and_peers(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	a.peers.all["10.0.0.6:16402"] = &peer{unit: "u/1"}
	assert.Len(t, a.charm(t.Context()).Unknown, 2, "no server was looked at")
	r := healthyReport()
	for i := range r.Clusters {
		r.Clusters[i].Status.Servers = append(r.Clusters[i].Status.Servers,
			raft.Member{Short: "aa07", Address: "ssl:10.0.0.7:6643"}, raft.Member{Short: "aa09", Address: "ssl:10.0.0.9:6643"})
	}
	r.Application.Published = relation.UnitIdentities{"u/2": {ovndb.NB: {Server: "aa07"}, ovndb.SB: {Server: "aa07"}}}
	r.Application.Places = map[string]observe.Place{"u/2": {Hostname: "two"}}
	a.clusters.servers.Observe = sees(r)
	c := a.charm(t.Context())
	assert.Empty(t, c.Unknown)
	on := func(hostname, address string) (units []string, members int) {
		units, all, _ := c.On(maintenance.Node{Hostname: hostname, Addresses: []string{address}})
		return units, len(all)
	}
	for at, want := range map[string]struct {
		units   []string
		members int
	}{
		"10.0.0.5": {[]string{"u/0"}, 2}, "10.0.0.6": {[]string{"u/1"}, 0}, "10.0.0.7": {[]string{"u/2"}, 2},
		"10.0.0.9": {nil, 2},
	} {
		units, members := on("", at)
		assert.Equal(t, want.units, units, at)
		assert.Equal(t, want.members, members, at)
	}
	units, members := on("two.maas", "192.0.2.1")
	assert.Equal(t, []string{"u/2"}, units, "it has another network for tunnels")
	assert.Equal(t, 2, members)
}

func TestOperations_bounded(t *testing.T) {
	t.Parallel()
	o := &operations{running: make(chan struct{}, 1)}
	o.running <- struct{}{}
	code, _ := o.ask(t, "POST /nodes/c1/drain")
	assert.Equal(t, http.StatusConflict, code)
}

// The servers' directory may appear only after the agent has started.
func TestServeOperations_waits_for_directory(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	a.config.Listen, a.config.PeerListen, a.config.Socket = "", "", filepath.Join(t.TempDir(), "ovn", "agent.sock")
	all, err := a.serve(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Dir(a.config.Socket), 0o755))
	require.Eventually(t, func() bool {
		c, err := new(net.Dialer).DialContext(t.Context(), "unix", a.config.Socket)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 30*time.Second, 10*time.Millisecond)
	about, err := os.Stat(a.config.Socket)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), about.Mode().Perm())
	all.close()
	assert.NoFileExists(t, a.config.Socket)

	a.config.Socket = filepath.Join(t.TempDir(), "never", "agent.sock")
	all, err = a.serve(t.Context())
	require.NoError(t, err)
	all.close() // returns although there is no directory
}
