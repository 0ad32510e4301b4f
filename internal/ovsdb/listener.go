package ovsdb

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Connection is a row of table Connection, which makes every server of the
// database listen.
type Connection struct {
	// Target is `pssl:PORT[:ADDRESS]`, as in ovsdb-server(1). Without an address
	// it is IPv4's 0.0.0.0 alone; `[::]` serves both families.
	Target string
	// Role is the RBAC role of clients that connect; empty gives every right. The
	// Northbound schema has no roles.
	Role string
	// InactivityProbe is kept in whole milliseconds. 0 turns probes off, ProbeUnset
	// leaves the interval to the server: 5 s.
	InactivityProbe time.Duration
}

// ProbeUnset stands for an inactivity_probe without a value.
const ProbeUnset time.Duration = -1

// chassisRole is the only role that ovn-northd defines (ovn-sb(5), "RBAC_Role").
const chassisRole = "ovn-controller"

// WantedConnections are the listeners of a database. The targets of IPv4 are those
// that the charm before this one wrote. The rows are common to all units, so that
// one unit with an IPv6 address is a reason for IPv6.
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

// listener says which targets exclude each other: of two that want the same port on
// every address, whatever the family, the second can't be opened.
func (c Connection) listener() string {
	return strings.TrimSuffix(strings.TrimSuffix(c.Target, anyIPv4), anyIPv6)
}

// serves says whether all clients that want serves are served by c, with the same
// rights. One for both families is never narrowed to IPv4: with units of both, the
// leaders would take turns at it.
func (c Connection) serves(want Connection) bool {
	wide := strings.HasSuffix(c.Target, anyIPv6) || !strings.HasSuffix(want.Target, anyIPv6)
	return c.listener() == want.listener() && c.Role == want.Role && wide
}

func (c Connection) probesAs(want Connection) bool {
	return milliseconds(c.InactivityProbe) == milliseconds(want.InactivityProbe)
}

func milliseconds(probe time.Duration) int64 {
	if probe < 0 {
		return -1
	}
	return probe.Milliseconds()
}

// Satisfied says whether the rows are as wanted, so that [Dialer.EnsureConnections]
// would change nothing.
func Satisfied(rows []Listener, want []Connection) bool { return planListeners(rows, want).empty() }

// Listener is a row of Connection.
type Listener struct {
	Connection
	UUID string
}

// WithoutTLS reports whether another machine may be at the other end without TLS, with every
// right on the database: by ptcp the servers listen, by tcp they connect. One that can't be read is
// of no such kind: no server opens it.
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

// listenerPlan is one transaction's worth of changes.
type listenerPlan struct {
	insert []Connection
	drop   []Listener
	// probe are the rows that get another inactivity probe.
	probe map[Listener]time.Duration
}

func (p listenerPlan) empty() bool { return len(p.insert)+len(p.drop)+len(p.probe) == 0 }

// targets are those of all rows that the plan changes, sorted.
func (p listenerPlan) targets() []string {
	var all []string
	for _, c := range p.insert {
		all = append(all, c.Target)
	}
	for _, row := range p.drop {
		all = append(all, row.Target)
	}
	for row := range p.probe {
		all = append(all, row.Target)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// planListeners leaves alone the rows that have nothing to do with the wanted ones.
// A row with another role, or for fewer addresses, is dropped, and made anew by the
// plan that follows: before OVS 3.3.0 a server keeps a listener's old role until the
// listener goes (ovsdb_jsonrpc_server_set_remotes in ovsdb/jsonrpc-server.c), so that
// setting the column would protect nothing.
func planListeners(rows []Listener, want []Connection) listenerPlan {
	p := listenerPlan{probe: map[Listener]time.Duration{}}
	for _, w := range want {
		var same []Listener
		for _, row := range rows {
			if row.listener() == w.listener() {
				same = append(same, row)
			}
		}
		if len(same) == 0 {
			p.insert = append(p.insert, w)
			continue
		}
		if slices.ContainsFunc(same, func(row Listener) bool { return !row.serves(w) }) {
			p.drop = append(p.drop, same...)
			continue
		}
		// The schema keeps targets apart: the others are the same in other words. The
		// one for both families sorts last.
		keep := slices.MaxFunc(same, func(a, b Listener) int { return cmp.Compare(a.Target, b.Target) })
		for _, row := range same {
			if row != keep {
				p.drop = append(p.drop, row)
			}
		}
		if !keep.probesAs(w) {
			p.probe[keep] = w.InactivityProbe
		}
	}
	return p
}
