package relation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
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

// NagiosHost is a unit's name in Nagios.
type NagiosHost struct {
	// Host is the name of its host, Unit its name in descriptions.
	Host, Unit string
}

// nagiosName matches a short name of characters that are safe in a file's name and in a line that Nagios reads.
var nagiosName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// ParseNagiosHost parses what nrpe's charm has published. If that has no host name, it is made of context, the option
// nagios_context, and the unit's name. Malformed names are left out and reported by err; the host is usable anyway.
func ParseNagiosHost(unit, context string, databag map[string]string) (h NagiosHost, err error) {
	var ignored []string
	published := func(key string) string {
		value := databag[key]
		if value != "" && !nagiosName.MatchString(value) {
			ignored = append(ignored, fmt.Sprintf("nrpe's unit publishes %s %.60q, which is no name: it is ignored", key, value))
			return ""
		}
		return value
	}
	h = NagiosHost{
		Host: cmp.Or(published(keyNagiosHost), strings.Trim(context+"-"+strings.ReplaceAll(unit, "/", "-"), "-")),
		Unit: unit,
	}
	if prefix := published(keyHostContext); prefix != "" {
		h.Unit = prefix + ":" + unit
	}
	if len(ignored) > 0 {
		err = errors.New(strings.Join(ignored, "; "))
	}
	return h, err
}

// MonitorsDatabag publishes to nrpe's charm the names of the checks that the NRPE server offers, which may be none. The
// unit is the principal one of its machine, which gives the host its name.
//
// The value is read as YAML, a superset of JSON.
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
	// always marshals
	text, _ := json.Marshal(map[string]any{"monitors": map[string]any{"remote": map[string]any{"nrpe": nrpe}}})
	return map[string]string{keyMonitors: string(text), keyPrimary: "True"}
}
