package ovsdb

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unique"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Followed is a connection to one server of each database that reports possible changes of gateways. The library's
// events only cause a read; its copies of rows are not used.
type Followed struct {
	dialer  *Dialer
	nb, sb  client.Client
	changed chan struct{}
	lost    map[ovndb.Database]<-chan struct{}
}

// firstMonitor limits the wait for the first answer of a monitor: with 10,000 routers it takes seconds.
const firstMonitor = time.Minute

// Follow connects, for each database, to the first endpoint that serves it, with one monitor. The caller closes the
// connection, and replaces it if it is lost.
func (d *Dialer) Follow(ctx context.Context, nb, sb []string) (_ *Followed, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstMonitor)
	defer cancel()
	f := &Followed{dialer: d, changed: make(chan struct{}, 1)}
	if f.nb, err = f.follow(ctx, ovndb.NB, nb, northboundFollowed()); err != nil {
		return nil, err
	}
	if f.sb, err = f.follow(ctx, ovndb.SB, sb, southboundFollowed()); err != nil {
		f.nb.Close()
		return nil, err
	}
	f.lost = map[ovndb.Database]<-chan struct{}{ovndb.NB: untilLost(f.nb), ovndb.SB: untilLost(f.sb)}
	return f, nil
}

// connectionPeriod is the longest time until a lost connection is noticed.
const connectionPeriod = time.Second

// untilLost closes its channel once the connection is lost. The library notifies only a goroutine that waits at that
// moment (handleDisconnectNotification in client.go of libovsdb 0.7.0), and forgets the endpoint just before.
func untilLost(c client.Client) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		look := time.NewTicker(connectionPeriod)
		defer look.Stop()
		for c.CurrentEndpoint() != "" {
			select {
			case <-c.DisconnectNotify():
				return
			case <-look.C:
			}
		}
	}()
	return gone
}

// followedTables are the tables to monitor.
type followedTables struct {
	rows    map[string]model.Model
	columns []client.MonitorOption
}

// add requests a table's columns by the fields of its row. Otherwise the library would request all columns, including
// those without a model.
func (t *followedTables) add(table string, row model.Model, columns ...any) {
	t.rows[table] = row
	t.columns = append(t.columns, client.WithTable(row, columns...))
}

func northboundFollowed() followedTables {
	t := followedTables{rows: map[string]model.Model{}}
	global, port, group := new(northboundEvents), new(routerPortEvents), new(groupEvents)
	gateway, ha := new(gatewayChassisEvents), new(haChassisEvents)
	t.add(ovndb.NB.GlobalTable(), global, &global.Config, &global.ExternalIDs)
	t.add(routerPortTable, port, &port.Name, &port.GatewayChassis, &port.Group)
	t.add("Gateway_Chassis", gateway, &gateway.Name, &gateway.Chassis, &gateway.Priority)
	t.add("HA_Chassis", ha, &ha.Chassis, &ha.Priority)
	t.add(groupTable, group, &group.Name, &group.Members)
	return t
}

func southboundFollowed() followedTables {
	t := followedTables{rows: map[string]model.Model{}}
	chassis, private, global := new(chassisEvents), new(privateEvents), new(southboundEvents)
	t.add("Chassis", chassis, &chassis.Name, &chassis.Config, &chassis.Follows)
	t.add("Chassis_Private", private, &private.Name, &private.Config)
	t.add(ovndb.SB.GlobalTable(), global, &global.Config)
	return t
}

func (f *Followed) follow(ctx context.Context, db ovndb.Database, endpoints []string,
	t followedTables,
) (client.Client, error) {
	m, err := model.NewClientDBModel(string(db), t.rows)
	if err != nil {
		return nil, fmt.Errorf("cannot model %s: %w", db, err)
	}
	c, err := f.dialer.client(ctx, m, endpoints...)
	if err != nil {
		return nil, err
	}
	err = monitor(ctx, c, func(model.Model, model.Model) { wake(f.changed) }, t.columns...)
	if err == nil {
		err = c.Echo(ctx) // the library keeps the last answer until the next one arrives, so request a short one
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("cannot follow %s: %w", db, err)
	}
	return c, nil
}

// Changed receives if data may have changed since the last read.
func (f *Followed) Changed() <-chan struct{} { return f.changed }

// Read reads the current state from the followed servers, since others may be behind them. It uses its own
// connections: until a connection is closed, the library keeps the buffer of its longest answer, which has tens of MB
// with 10,000 routers.
func (f *Followed) Read(ctx context.Context, what func(*Gateways) error) error {
	nb, err := f.again(ctx, ovndb.NB, f.nb)
	if err != nil {
		return err
	}
	defer nb.Close()
	sb, err := f.again(ctx, ovndb.SB, f.sb)
	if err != nil {
		return err
	}
	defer sb.Close()
	return what(&Gateways{nb: nb, sb: sb})
}

// again connects once more to the server of a connection. A lost connection does not know its server's name.
func (f *Followed) again(ctx context.Context, db ovndb.Database, c client.Client) (client.Client, error) {
	endpoint := c.CurrentEndpoint()
	if endpoint == "" {
		return nil, fmt.Errorf("cannot read %s: the connection to the server that is followed is lost", db)
	}
	return f.dialer.database(ctx, db, endpoint)
}

// Close ends the connections.
func (f *Followed) Close() {
	f.nb.Close()
	f.sb.Close()
}

// Lost returns a channel that is closed when the connection to the database is lost.
func (f *Followed) Lost(db ovndb.Database) <-chan struct{} { return f.lost[db] }

// The columns on which a plan depends, and those of the tables' indexes, which the library needs. Changes of routers,
// switches and other ports come with a change of a router port, or are not urgent.
//
// The library clones a row through JSON, which copies each string, unless the model implements [model.CloneableModel].
// With 10,000 routers these rows are most of an idle agent's memory, and most strings are the names of a few chassis.
type (
	routerPortEvents struct {
		UUID           string   `ovsdb:"_uuid"`
		Name           string   `ovsdb:"name"`
		GatewayChassis []string `ovsdb:"gateway_chassis"`
		Group          *string  `ovsdb:"ha_chassis_group"`
	}
	gatewayChassisEvents struct {
		UUID     string `ovsdb:"_uuid"`
		Name     string `ovsdb:"name"`
		Chassis  string `ovsdb:"chassis_name"`
		Priority int    `ovsdb:"priority"`
	}
	haChassisEvents struct {
		UUID     string `ovsdb:"_uuid"`
		Chassis  string `ovsdb:"chassis_name"`
		Priority int    `ovsdb:"priority"`
	}
	groupEvents struct {
		UUID    string   `ovsdb:"_uuid"`
		Name    string   `ovsdb:"name"`
		Members []string `ovsdb:"ha_chassis"`
	}
	northboundEvents struct {
		UUID        string            `ovsdb:"_uuid"`
		Config      int               `ovsdb:"nb_cfg"`
		ExternalIDs map[string]string `ovsdb:"external_ids"`
	}
	chassisEvents struct {
		UUID    string            `ovsdb:"_uuid"`
		Name    string            `ovsdb:"name"`
		Config  map[string]string `ovsdb:"other_config"`
		Follows int               `ovsdb:"nb_cfg"`
	}
	southboundEvents struct {
		UUID   string `ovsdb:"_uuid"`
		Config int    `ovsdb:"nb_cfg"`
	}
	privateEvents struct {
		UUID   string `ovsdb:"_uuid"`
		Name   string `ovsdb:"name"`
		Config int    `ovsdb:"nb_cfg"`
	}
)

// shared returns the text's only copy in memory, which all rows share.
func shared(text string) string { return unique.Make(text).Value() }

// cloned implements CloneModel of [model.CloneableModel].
func cloned[T any, P interface {
	*T
	CloneModelInto(model.Model)
}](r P) model.Model {
	clone := P(new(T))
	r.CloneModelInto(clone)
	return clone
}

func (r *routerPortEvents) CloneModel() model.Model { return cloned(r) }

func (r *routerPortEvents) CloneModelInto(to model.Model) {
	clone := to.(*routerPortEvents) //nolint:forcetypeassert // the library clones into the same type
	*clone = *r
	clone.GatewayChassis = slices.Clone(r.GatewayChassis)
	if r.Group != nil {
		clone.Group = new(*r.Group)
	}
}

func (r *gatewayChassisEvents) CloneModel() model.Model { return cloned(r) }

func (r *gatewayChassisEvents) CloneModelInto(to model.Model) {
	clone := to.(*gatewayChassisEvents) //nolint:forcetypeassert // as above
	*clone = *r
	clone.Chassis = shared(r.Chassis)
}

func (r *haChassisEvents) CloneModel() model.Model { return cloned(r) }

func (r *haChassisEvents) CloneModelInto(to model.Model) {
	clone := to.(*haChassisEvents) //nolint:forcetypeassert // as above
	*clone = *r
	clone.Chassis = shared(r.Chassis)
}
