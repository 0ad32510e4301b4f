package ovsdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Names of the table of listeners, its columns, and the column of the database's only row that refers to it, as in
// OVN 20.12.
const (
	connectionTable  = "Connection"
	connectionsField = "connections"
	targetField      = "target"
	roleField        = "role"
	probeField       = "inactivity_probe"
)

// conflictPause is how long to wait until the server has received another client's write that came first.
const conflictPause = 50 * time.Millisecond

// Connections returns the listeners' rows, sorted by target, from the first endpoint that serves the database.
func (d *Dialer) Connections(ctx context.Context, db ovndb.Database, endpoints ...string) ([]Listener, error) {
	// The caller's deadline may be one for a whole hook.
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	l, err := d.listeners(ctx, db, endpoints...)
	if err != nil {
		return nil, err
	}
	defer l.client.Close()
	state, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	return state.rows, nil
}

// EnsureConnections creates each wanted row once, and returns the targets that it changed. It leaves rows for other
// ports or addresses, and other columns, alone. It replaces a row with a different role, which ends the sessions on
// its port. A member that lagged may apply both steps as one and keep the old role in force: [Dialer.Restricted]
// checks that. Several clients may call EnsureConnections at once, through any members. After an error, some rows may
// have been changed: call it again.
func (d *Dialer) EnsureConnections(ctx context.Context, db ovndb.Database, want []Connection,
	endpoints ...string,
) (changed []string, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if db != ovndb.SB && slices.ContainsFunc(want, func(w Connection) bool { return w.Role != "" }) {
		return nil, fmt.Errorf("cannot listen: %s has no roles", db)
	}
	l, err := d.listeners(ctx, db, endpoints...)
	if err != nil {
		return nil, err
	}
	defer l.client.Close()
	for {
		state, err := l.read(ctx)
		if err != nil {
			return nil, err
		}
		plan := planListeners(state.rows, want)
		if plan.empty() {
			slices.Sort(changed)
			return slices.Compact(changed), nil
		}
		err = l.apply(ctx, state, plan)
		if err == nil {
			changed = append(changed, plan.targets()...)
		} else if !errors.Is(err, ErrChanged) {
			return nil, fmt.Errorf("cannot write the listeners of %s: %w", db, err)
		} else if err := poll.Wait(ctx, conflictPause); err != nil {
			return nil, fmt.Errorf("cannot write the listeners of %s, which others keep changing: %w", db, err)
		}
	}
}

// listeners is a connection to the rows of one database.
type listeners struct {
	client *session
	global string
}

func (d *Dialer) listeners(ctx context.Context, db ovndb.Database, endpoints ...string) (*listeners, error) {
	s, err := d.session(ctx, string(db), endpoints...)
	return &listeners{client: s, global: db.GlobalTable()}, err
}

// listenerState is what was read in one transaction.
type listenerState struct {
	// global is the UUID of the database's only row; empty if that does not exist yet.
	global string
	rows   []Listener
}

// read reads all rows of listeners. The database's only row refers to all of them; others can't exist.
func (l *listeners) read(ctx context.Context) (listenerState, error) {
	columns := []string{targetField, probeField}
	if l.hasRoles() {
		columns = append(columns, roleField)
	}
	answers, err := readKnown(ctx, l.client, query{table: connectionTable, columns: columns}, query{table: l.global})
	if err != nil {
		return listenerState{}, err
	}
	var state listenerState
	for _, r := range answers[0] {
		c := Connection{Target: r.text(targetField), Role: r.text(roleField), InactivityProbe: probeOf(r[probeField])}
		state.rows = append(state.rows, Listener{Connection: c, UUID: r.uuid()})
	}
	for _, r := range answers[1] {
		state.global = r.uuid()
	}
	slices.SortFunc(state.rows, byTarget)
	return state, nil
}

// probeOf reads an optional integer: a number, or an empty set. It limits longer times to the longest Duration.
func probeOf(value any) time.Duration {
	ms, ok := value.(float64)
	if !ok {
		return ProbeUnset
	}
	const longest = float64(math.MaxInt64 / int64(time.Millisecond))
	return time.Duration(min(max(ms, 0), longest)) * time.Millisecond
}

// apply commits the plan if the rows are unchanged; otherwise it returns [ErrChanged].
func (l *listeners) apply(ctx context.Context, state listenerState, p listenerPlan) error {
	results, err := commit(ctx, l.client, l.operations(state, p)...)
	if i := failed(results); i >= 0 && results[i].Error == constraintViolation && state.global == "" {
		return ErrChanged // another client has made the database's only row
	}
	return err
}

func (l *listeners) operations(state listenerState, p listenerPlan) []ovsdb.Operation {
	var ops []ovsdb.Operation
	var made []ovsdb.UUID
	for i, c := range p.insert {
		name, row := "listener"+strconv.Itoa(i), l.identity(c)
		row[probeField] = probeSet(c.InactivityProbe)
		made = append(made, ovsdb.UUID{GoUUID: name})
		ops = append(ops, insert(connectionTable, name, row))
	}
	if state.global == "" {
		// As in swap: of two inserts of that row, one fails.
		return append(ops, insert(l.global, "global", ovsdb.Row{connectionsField: set(made)}))
	}
	ops = append(ops, unchanged(l.global, state.global, ovsdb.Row{connectionsField: set(references(state.rows))}))
	for _, row := range p.drop {
		ops = append(ops, unchanged(connectionTable, row.UUID, l.identity(row.Connection)))
	}
	for row, probe := range p.probe {
		ops = append(ops, unchanged(connectionTable, row.UUID, l.identity(row.Connection)),
			update(connectionTable, row.UUID, ovsdb.Row{probeField: probeSet(probe)}))
	}
	return append(ops, ovsdb.Operation{
		Op: ovsdb.OperationMutate, Table: l.global, Where: at(state.global),
		Mutations: []ovsdb.Mutation{
			*ovsdb.NewMutation(connectionsField, ovsdb.MutateOperationDelete, set(references(p.drop))),
			*ovsdb.NewMutation(connectionsField, ovsdb.MutateOperationInsert, set(made)),
		},
	})
}

// identity returns the columns that must be unchanged when a row is changed.
func (l *listeners) identity(c Connection) ovsdb.Row {
	row := ovsdb.Row{targetField: c.Target}
	if l.hasRoles() {
		row[roleField] = c.Role
	}
	return row
}

// hasRoles reports whether the database has roles: NB has none.
func (l *listeners) hasRoles() bool { return l.global == ovndb.SB.GlobalTable() }

func references(rows []Listener) []ovsdb.UUID {
	var all []ovsdb.UUID
	for _, row := range rows {
		all = append(all, ovsdb.UUID{GoUUID: row.UUID})
	}
	return all
}

func probeSet(probe time.Duration) ovsdb.OvsSet {
	if ms := milliseconds(probe); ms >= 0 {
		return set([]int64{ms})
	}
	return set([]int64(nil))
}
