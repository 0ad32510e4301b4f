package ovsdb

import (
	"slices"
	"unique"

	"github.com/ovn-org/libovsdb/model"
)

// Columns that a plan depends on, and those of the tables' indexes, which the library needs. Changes of routers,
// switches and other ports come with one of a router port, or are not urgent.
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
		UUID   string            `ovsdb:"_uuid"`
		Name   string            `ovsdb:"name"`
		Config map[string]string `ovsdb:"other_config"`
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

// shared returns the text's only copy in memory, for all rows.
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
