package ovsdb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Connection is a row of table Connection, which makes every server of the database listen.
type Connection struct {
	// Target is `pssl:PORT[:ADDRESS]`, as in ovsdb-server(1). Without an address the server listens at IPv4's 0.0.0.0
	// only; `[::]` serves both families.
	Target string
	// Role is the RBAC role of clients. An empty role grants every right. The Northbound schema has no roles.
	Role string
	// InactivityProbe is in whole milliseconds. 0 turns probes off. With ProbeUnset the server uses its default of 5 s.
	InactivityProbe time.Duration
}

// ProbeUnset represents an inactivity_probe without a value.
const ProbeUnset time.Duration = -1

// chassisRole is the only role that ovn-northd defines (ovn-sb(5), "RBAC_Role").
const chassisRole = "ovn-controller"

// WantedConnections returns the listeners of a database. The previous charm wrote the same IPv4 targets. All units
// share the rows, so a single unit with an IPv6 address requires IPv6.
func WantedConnections(db ovndb.Database, probe time.Duration, ipv6 bool) []Connection {
	listener := func(port uint16, role string) Connection {
		target := "pssl:" + strconv.Itoa(int(port))
		if ipv6 {
			target += anyIPv6
		}
		return Connection{Target: target, Role: role, InactivityProbe: probe}
	}
	if db == ovndb.SB {
		return []Connection{listener(ovndb.SouthboundPort, chassisRole), listener(ovndb.ManagementPort, "")}
	}
	return []Connection{listener(ovndb.NorthboundPort, "")}
}

// Suffixes of targets that listen on every address of the machine.
const (
	anyIPv4 = ":0.0.0.0"
	anyIPv6 = ":[::]"
)

// listener returns what makes targets exclude each other: a server can't open a second target for the same port on
// every address, regardless of the family.
func (c Connection) listener() string {
	return strings.TrimSuffix(strings.TrimSuffix(c.Target, anyIPv4), anyIPv6)
}

// serves reports whether c serves all clients of want, with the same rights. A listener for both families is never
// narrowed to IPv4: if there are units with and without IPv6, their leaders would keep changing it back.
func (c Connection) serves(want Connection) bool {
	wide := strings.HasSuffix(c.Target, anyIPv6) || !strings.HasSuffix(want.Target, anyIPv6)
	return c.listener() == want.listener() && c.Role == want.Role && wide
}

func (c Connection) probesAs(want Connection) bool {
	return milliseconds(c.InactivityProbe) == milliseconds(want.InactivityProbe)
}

// milliseconds returns -1 for [ProbeUnset].
func milliseconds(probe time.Duration) int64 {
	if probe < 0 {
		return -1
	}
	return probe.Milliseconds()
}

// Satisfied reports whether the rows are as wanted, so that [Dialer.EnsureConnections] would change nothing.
func Satisfied(rows []Listener, want []Connection) bool { return planListeners(rows, want).empty() }

// Listener is a row of Connection.
type Listener struct {
	Connection
	UUID string
}

func byTarget(a, b Listener) int { return cmp.Compare(a.Target, b.Target) }

// WithoutTLS reports whether another machine can connect without TLS, with every right on the database: servers
// listen at a ptcp target and connect to a tcp target. It ignores malformed targets: no server opens them.
func (c Connection) WithoutTLS() bool {
	method, rest, _ := strings.Cut(c.Target, ":")
	var host string
	switch method {
	case "ptcp": // ptcp:[PORT][:HOST]
		_, host, _ = strings.Cut(rest, ":")
	case "tcp": // tcp:HOST[:PORT]
		host, _, _ = strings.Cut(rest, ":")
		if end := strings.Index(rest, "]"); end >= 0 {
			host = rest[:end+1]
		}
	default:
		return false
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host != "localhost" && (err != nil || !address.IsLoopback())
}

// listenerPlan has the changes of one transaction.
type listenerPlan struct {
	insert []Connection
	drop   []Listener
	// probe has the rows that get another inactivity probe, with the probe.
	probe map[Listener]time.Duration
}

func (p listenerPlan) empty() bool { return len(p.insert)+len(p.drop)+len(p.probe) == 0 }

// targets returns the targets of all rows that the plan changes.
func (p listenerPlan) targets() (all []string) {
	for _, c := range p.insert {
		all = append(all, c.Target)
	}
	for _, row := range slices.AppendSeq(slices.Clone(p.drop), maps.Keys(p.probe)) {
		all = append(all, row.Target)
	}
	return all
}

// planListeners leaves unrelated rows alone. It drops a row that has another role, or serves fewer addresses, and the
// next plan makes it again. Setting the column would not protect: before OVS 3.3.0, a server keeps a listener's old
// role until the listener is removed (ovsdb_jsonrpc_server_set_remotes in ovsdb/jsonrpc-server.c).
func planListeners(rows []Listener, want []Connection) listenerPlan {
	p := listenerPlan{probe: map[Listener]time.Duration{}}
	for _, w := range want {
		same := slices.DeleteFunc(slices.Clone(rows), func(row Listener) bool { return row.listener() != w.listener() })
		slices.SortFunc(same, byTarget)
		last := len(same) - 1
		switch {
		case last < 0:
			p.insert = append(p.insert, w)
		case slices.ContainsFunc(same, func(row Listener) bool { return !row.serves(w) }):
			p.drop = append(p.drop, same...)
		default:
			// The schema makes targets unique, so these are different spellings of one target. The last one serves both
			// families.
			p.drop = append(p.drop, same[:last]...)
			if !same[last].probesAs(w) {
				p.probe[same[last]] = w.InactivityProbe
			}
		}
	}
	return p
}

// Restricted reports whether the Southbound server at the endpoint restricts its clients to the rights of a role. The
// row's role does not show that: before OVS 3.3.0, a server applies the role that the row had when the server opened
// the listener. Restricted writes nothing: it aborts a permitted attempt.
func (d *Dialer) Restricted(ctx context.Context, endpoint string) (bool, error) {
	g, err := d.Global(ctx, ovndb.SB, endpoint)
	if err != nil {
		return false, err
	}
	defer g.Close()
	results, err := send(ctx, g.client,
		insert(g.table, "", ovsdb.Row{connectionsField: set([]any(nil))}),
		ovsdb.Operation{Op: ovsdb.OperationAbort},
	)
	if err != nil {
		return false, fmt.Errorf("cannot try the rights at %s: %w", endpoint, err)
	}
	for _, r := range results {
		switch r.Error {
		case "":
		case "permission error": // ovsdb_perm_error in ovsdb/ovsdb-error.c
			return true, nil
		case "aborted": // RFC 7047, 5.2.8
			return false, nil
		default:
			return false, fmt.Errorf("cannot try the rights at %s: %s", endpoint, detail(r))
		}
	}
	return false, fmt.Errorf("cannot try the rights at %s: the server has not aborted", endpoint)
}
