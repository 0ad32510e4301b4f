package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// maxOperations limits concurrent operations on nodes. Operations on one node are serialised through the database.
const maxOperations = 8

// route is an operation and the function that parses its request from the query.
type route struct {
	operate func(*node.Service, context.Context, node.Request) answer.Status
	parse   func(*query, *node.Request)
}

// routes maps the paths of document 002 to operations. The document's names with "etcd" are accepted, too.
func routes() map[string]route {
	member := route{(*node.Service).RemoveMember, func(q *query, r *node.Request) {
		r.Member = q.seconds(node.DefaultMemberTimeout, 0, "timeout")
	}}
	health := route{(*node.Service).ClusterHealth, func(q *query, r *node.Request) {
		r.MinMembers = q.number(0, 0, 100, "min-members")
	}}
	return map[string]route{
		"POST /nodes/{id}/drain": {(*node.Service).Drain, func(q *query, r *node.Request) {
			r.Limits = q.limits("timeout", "grace-period")
		}},
		"POST /nodes/{id}/clear-labels": {(*node.Service).ClearLabels, func(q *query, r *node.Request) {
			r.Clear = q.seconds(node.DefaultClearTimeout, 1, "timeout")
		}},
		"POST /nodes/{id}/remove-member": member,
		"POST /nodes/{id}/remove-etcd":   member,
		"POST /nodes/{id}/decommission": {(*node.Service).Decommission, func(q *query, r *node.Request) {
			r.Limits = q.limits("drain-node-timeout", "drain-node-grace-period")
			r.Clear = q.seconds(node.DefaultClearTimeout, 1, "clear-labels-timeout")
			r.Member = q.seconds(node.DefaultMemberTimeout, 0, "remove-member-timeout", "remove-etcd-timeout")
			r.Ready = q.seconds(node.DefaultReadyTimeout, 0, "cluster-ready-timeout", "etcd-ready-timeout")
			r.MinMembers, r.Force = q.number(0, 0, 100, "min-members"), q.flag("force")
		}},
		"POST /nodes/{id}/remove-from-cluster": {(*node.Service).Remove, func(*query, *node.Request) {}},
		"GET /cluster-health-statuses":         health,
		"GET /etcd-cluster-health-statuses":    health,
	}
}

// operations serves operations on nodes, on a socket that only root can open.
type operations struct {
	agent   *Agent
	running chan struct{}
	// open makes a service; each request has its own.
	open func() *node.Service
}

// handler answers each request with a Status and its code. The charm asks here for the agent's report, since no other
// user can take this socket or all of its connections.
func (o *operations) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+report.Path, o.agent.serveStatus)
	for pattern, route := range routes() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			request := node.Request{Node: r.PathValue("id"), Confirmed: true}
			q := query{values: r.URL.Query(), known: map[string]bool{}}
			route.parse(&q, &request)
			status := q.wrong()
			if status == nil {
				status = new(o.run(r.Context(), route, request))
			}
			respond(w, status.Code, status)
		})
	}
	return mux
}

func (o *operations) run(ctx context.Context, route route, request node.Request) answer.Status {
	select {
	case o.running <- struct{}{}:
		defer func() { <-o.running }()
	default:
		busy := finding.Reason{Code: finding.OperationsRun, Count: maxOperations}
		return answer.New(answer.Conflict, busy.String())
	}
	late := finding.Reason{Code: finding.TimedOut, Age: node.Timeout}
	ctx, cancel := context.WithTimeoutCause(ctx, node.Timeout, late.Err())
	defer cancel()
	s := o.open()
	defer s.Close()
	return route.operate(s, ctx, request)
}

// serveOperations adds the server of operations to s, and replaces the socket of an earlier process. It returns after
// the first attempt to listen, and repeats failed attempts in the background: the servers' directory may not exist
// before they start, and the agent takes part in the election meanwhile.
func (a *Agent) serveOperations(ctx context.Context, s *httpServers) {
	path := s.socket
	if path == "" {
		return
	}
	o := &operations{agent: a, running: make(chan struct{}, maxOperations), open: a.nodes}
	server := a.server(o.handler())
	server.ReadTimeout = 0 // otherwise net/http would end an operation that takes longer
	server.WriteTimeout = node.Timeout + time.Minute
	l, err := listenPrivately(ctx, path)
	s.add(server, l, func() net.Listener {
		a.log.Error("cannot serve operations on nodes yet", "error", err)
		return listenAgain(ctx, func() (net.Listener, error) { return listenPrivately(ctx, path) })
	})
}

// listenPrivately makes a socket under a temporary name, and renames it once only its owner can open it.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", fresh)
	if err != nil {
		return nil, err
	}
	if u, is := l.(*net.UnixListener); is {
		u.SetUnlinkOnClose(false)
	}
	if err = os.Chmod(fresh, 0o600); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// nodes makes a service on the databases that the agent follows. Its writes need no lease, since an operator asks for
// them.
func (a *Agent) nodes() *node.Service {
	c := a.config
	return &node.Service{
		Gateways: &gateway.Service{
			Dialer: a.dialer, NB: c.NB, SB: c.SB, By: c.Unit + ", API", Now: wall, NorthdTimeout: gateway.DefaultNorthdTimeout,
			Progress: func(_ context.Context, line string) { a.log.Info("operation on a node", "progress", line) },
		},
		Unit: c.Unit, Charm: a.charm, Command: a.apiCommand,
		Health: func(ctx context.Context) []maintenance.DatabaseHealth {
			seen, _ := a.clusters.observeNow(ctx) // the last observation may be older than the request
			return node.Health(seen)
		},
	}
}

// apiCommand formats the next request to make. Operations outside of the API are actions, and other commands are
// Juju's.
func (a *Agent) apiCommand(c command.Command) string {
	if len(c.Params) == 0 || c.Params[0].Key != "node" {
		return a.clusters.last.Load().report.Application.Version.Render(c)
	}
	switch name := c.Params[0].Value; c.Action {
	case maintenance.OperationDrain, maintenance.OperationDecommission:
		return "POST /nodes/" + name + "/" + c.Action
	case maintenance.OperationRemove:
		return "POST /nodes/" + name + "/remove-from-cluster"
	default:
		text := "action " + c.Action
		for _, p := range c.Params {
			text += " " + p.Key + "=" + p.Value
		}
		return text
	}
}

// charm returns this unit's view of the application: the members of both configurations, with the units known at its
// last hook, and the units of the known agents.
func (a *Agent) charm(ctx context.Context) maintenance.Charm {
	seen := a.clusters.recent(ctx)
	servers := map[ovndb.Database]observe.ServerState{}
	for _, c := range seen.Clusters {
		servers[c.Database] = c.ServerState
	}
	hostname, err := os.Hostname()
	seen.Application.Unit = a.config.Unit
	c := node.CharmOf(seen.Application, servers, hostname)
	if err != nil {
		c.Unknown = append(c.Unknown, finding.Cause(err))
	}
	add := func(at, unit string) {
		if address, err := netip.ParseAddrPort(at); err == nil && unit != "" {
			c.Add(unit, address.Addr().String())
		}
	}
	for _, p := range a.peers.status(a.now()) {
		add(p.Address, p.Unit)
	}
	add(a.config.PeerListen, a.config.Unit)
	return c
}

// query parses the parameters of a request and collects their errors.
type query struct {
	values url.Values
	known  map[string]bool
	bad    []finding.Reason
}

// wrong returns the answer to a request with invalid parameters, or nil if all are valid.
func (q *query) wrong() *answer.Status {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !q.known[name] {
			known := fmt.Sprint(slices.Sorted(maps.Keys(q.known)))
			q.bad = append(q.bad, finding.Reason{Code: finding.NoParameter, Name: name, Value: known})
		}
	}
	if len(q.bad) == 0 {
		return nil
	}
	return new(answer.New(answer.BadRequest, finding.Texts(q.bad)))
}

// one returns the given parameter, under the first of its names that the request has.
func (q *query) one(names ...string) (name, value string, given bool) {
	for _, n := range names {
		q.known[n] = true
		if !given && q.values.Has(n) {
			name, value, given = n, q.values.Get(n), true
		}
	}
	return name, value, given
}

func (q *query) invalid(name, value string, takes finding.Reason) {
	q.bad = append(q.bad, finding.Reason{
		Code: finding.ValueIs, Name: name, Value: strconv.Quote(value), Because: []finding.Reason{takes},
	})
}

// number parses a parameter as a whole number from least to most, under the first of its names that the request has.
func (q *query) number(otherwise, least, most int, names ...string) int {
	name, value, given := q.one(names...)
	if !given {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		takes := finding.Reason{Code: finding.TakesNumber, Count: least, Total: most}
		q.invalid(name, value, takes)
	}
	return n
}

// seconds parses a whole number of seconds, from least to [maintenance.MaxTimeout].
func (q *query) seconds(otherwise time.Duration, least int, names ...string) time.Duration {
	most := int(maintenance.MaxTimeout / time.Second)
	return time.Duration(q.number(int(otherwise/time.Second), least, most, names...)) * time.Second
}

func (q *query) limits(timeout, grace string) maintenance.Limits {
	var l maintenance.Limits
	l.Timeout = q.seconds(maintenance.DefaultTimeout, 1, timeout)
	l.Grace = q.seconds(maintenance.GraceFor(l.Timeout), 0, grace)
	return l
}

// flag parses true or false; the default is false.
func (q *query) flag(name string) bool {
	_, value, given := q.one(name)
	if given && value != "true" && value != "false" {
		q.invalid(name, value, finding.Reason{Code: finding.TakesBoolean})
	}
	return value == "true"
}
