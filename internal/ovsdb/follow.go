package ovsdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-org/libovsdb/cache"
	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The columns whose changes may make a plan another one. What routers, switches and their
// ports are changes with a router port, or is of no hurry. The library needs the columns of
// a table's index.
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
		UUID   string            `ovsdb:"_uuid"`
		Name   string            `ovsdb:"name"`
		Config map[string]string `ovsdb:"other_config"`
	}
	privateEvents struct {
		UUID   string `ovsdb:"_uuid"`
		Name   string `ovsdb:"name"`
		Config int    `ovsdb:"nb_cfg"`
	}
)

// Followed is a connection to one server of each database, by which what they hold of
// gateways is read, and which tells that it may have changed. Of what the library keeps
// nothing is read: its events are a reason to look.
type Followed struct {
	*Gateways
	changed chan struct{}
}

// firstMonitor bounds the first answer of a monitor: that of 10,000 routers takes seconds.
const firstMonitor = time.Minute

// Follow connects to the first of the endpoints of each database that serves it, with one
// monitor each. The caller closes the connection, and makes another one where it is lost.
func (d *Dialer) Follow(ctx context.Context, nb, sb []string) (_ *Followed, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstMonitor)
	defer cancel()
	f := &Followed{Gateways: new(Gateways), changed: make(chan struct{}, 1)}
	var (
		global   = new(northboundEvents)
		port     = new(routerPortEvents)
		gateway  = new(gatewayChassisEvents)
		ha       = new(haChassisEvents)
		group    = new(groupEvents)
		chassis  = new(chassisEvents)
		privates = new(privateEvents)
	)
	f.nb, err = f.follow(ctx, d, ovndb.NB, nb, map[string]model.Model{
		globalTable(ovndb.NB): global, routerPortTable: port, "Gateway_Chassis": gateway, "HA_Chassis": ha, groupTable: group,
	}, // without fields the library would ask for all columns, also those that are not modelled
		client.WithTable(global, &global.Config, &global.ExternalIDs), client.WithTable(port, &port.Name, &port.GatewayChassis, &port.Group),
		client.WithTable(gateway, &gateway.Name, &gateway.Chassis, &gateway.Priority), client.WithTable(ha, &ha.Chassis, &ha.Priority),
		client.WithTable(group, &group.Name, &group.Members))
	if err != nil {
		return nil, err
	}
	f.sb, err = f.follow(ctx, d, ovndb.SB, sb, map[string]model.Model{"Chassis": chassis, "Chassis_Private": privates},
		client.WithTable(chassis, &chassis.Name, &chassis.Config), client.WithTable(privates, &privates.Name, &privates.Config))
	if err != nil {
		f.nb.Close()
		return nil, err
	}
	return f, nil
}

func (f *Followed) follow(ctx context.Context, d *Dialer, db ovndb.Database, endpoints []string,
	tables map[string]model.Model, columns ...client.MonitorOption,
) (client.Client, error) {
	m, err := model.NewClientDBModel(string(db), tables)
	if err != nil {
		return nil, fmt.Errorf("cannot model %s: %w", db, err)
	}
	c, err := d.connect(ctx, m, endpoints...)
	if err != nil {
		return nil, err
	}
	kept := c.Cache()
	if kept == nil {
		c.Close()
		return nil, errors.New("the connection is lost")
	}
	kept.AddEventHandler(&cache.EventHandlerFuncs{
		AddFunc:    func(string, model.Model) { f.wake() },
		UpdateFunc: func(string, model.Model, model.Model) { f.wake() },
		DeleteFunc: func(string, model.Model) { f.wake() },
	})
	if _, err := c.Monitor(ctx, c.NewMonitor(columns...)); err != nil {
		c.Close()
		return nil, fmt.Errorf("cannot follow %s: %w", db, err)
	}
	return c, nil
}

func (f *Followed) wake() {
	select {
	case f.changed <- struct{}{}:
	default: // it is to be woken already
	}
}

// Changed gives something once there may be something else than at the last look.
func (f *Followed) Changed() <-chan struct{} { return f.changed }

// Lost gives something once the connection to the database is gone.
func (f *Followed) Lost(db ovndb.Database) <-chan struct{} {
	if db == ovndb.SB {
		return f.sb.DisconnectNotify()
	}
	return f.nb.DisconnectNotify()
}
