package ovsdb

import "time"

// Names of the tables and columns of candidates (ovn-nb(5)).
const (
	routerTable     = "Logical_Router"
	routerPortTable = "Logical_Router_Port"
	groupTable      = "HA_Chassis_Group"
	groupColumn     = "ha_chassis_group"
	chassisColumn   = "chassis_name"
	priorityColumn  = "priority"
	configColumn    = "nb_cfg"

	gatewayChassisColumn = "gateway_chassis"
)

// Timeouts of single calls. Connecting includes reading the schema; a snapshot of 10,000 routers takes some seconds.
const (
	connectTimeout = 20 * time.Second
	callTimeout    = 2 * time.Minute
)

// globalRow is the part of NB_Global and SB_Global that the product reads.
type globalRow struct {
	UUID        string            `ovsdb:"_uuid"`
	ExternalIDs map[string]string `ovsdb:"external_ids"`
}

const externalIDs = "external_ids"
