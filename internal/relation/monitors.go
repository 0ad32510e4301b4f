package relation

import (
	"cmp"
	"encoding/json"
	"strings"
)

// The keys on [NRPE]. Source: contrib/charmsupport/nrpe.py of charm-helpers, and
// hooks/nrpe_helpers.py of nrpe's charm, which reads them.
const (
	keyMonitors    = "monitors"
	keyPrimary     = "primary"
	keyNagiosHost  = "nagios_hostname"
	keyHostContext = "nagios_host_context"
)

// NagiosHost is what Nagios calls a unit.
type NagiosHost struct {
	// Host is the name of its host, Unit what stands in descriptions.
	Host, Unit string
}

// ParseNagiosHost reads what nrpe's charm has published. Where it has published no
// name, that is made of context, the option nagios_context, and the unit's name.
func ParseNagiosHost(unit, context string, databag map[string]string) NagiosHost {
	h := NagiosHost{
		Host: cmp.Or(databag[keyNagiosHost], strings.Trim(context+"-"+strings.ReplaceAll(unit, "/", "-"), "-")),
		Unit: unit,
	}
	if prefix := databag[keyHostContext]; prefix != "" {
		h.Unit = prefix + ":" + unit
	}
	return h
}

// MonitorsDatabag tells nrpe's charm of the checks that the NRPE server can be asked for,
// by name; without any, that there are none. The unit is the principal one of its
// machine, from which the host has its name.
//
// The value is read as YAML, which JSON is.
func MonitorsDatabag(checks []string) map[string]string {
	if len(checks) == 0 {
		return map[string]string{keyMonitors: "", keyPrimary: "True"}
	}
	type remote struct {
		Command string `json:"command"`
	}
	nrpe := map[string]remote{}
	for _, name := range checks {
		nrpe[name] = remote{Command: "check_" + name}
	}
	text, _ := json.Marshal(map[string]any{"monitors": map[string]any{"remote": map[string]any{"nrpe": nrpe}}}) // always marshals
	return map[string]string{keyMonitors: string(text), keyPrimary: "True"}
}
