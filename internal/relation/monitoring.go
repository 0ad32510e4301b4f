package relation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"strings"
)

// The keys on [Metrics]. Source: prometheus_scrape v0 of
// canonical/charm-relation-interfaces.
const (
	keyScrapeJobs     = "scrape_jobs"
	keyScrapeMetadata = "scrape_metadata"
	keyAlertRules     = "alert_rules"
	keyScrapeAddress  = "prometheus_scrape_unit_address"
	keyScrapeUnit     = "prometheus_scrape_unit_name"
)

// The exporter's job. Source of name, port and path: the previous charm.
const (
	exporterJob  = "ovn-exporter"
	exporterPort = "9476"
	exporterPath = "/metrics"
)

// Topology is a unit's place in Juju. Its fields become labels of metrics and alerts.
type Topology struct {
	Model, ModelUUID, App, Unit, Charm string
}

// labels returns the labels shared by all units of the application.
func (t Topology) labels() map[string]string {
	return map[string]string{
		"juju_model": t.Model, "juju_model_uuid": t.ModelUUID, "juju_application": t.App,
		"juju_charm": t.Charm,
	}
}

// AlertRules are groups of alert rules, as Prometheus reads them, or a template of them with placeholders.
type AlertRules struct {
	Groups []AlertGroup `json:"groups"`
}

// AlertGroup is a group of rules that Prometheus evaluates together.
type AlertGroup struct {
	Name  string      `json:"name"`
	Rules []AlertRule `json:"rules"`
}

// AlertRule is one alert. For is a duration in Prometheus' notation, such as 5m.
type AlertRule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Placeholders in rules for facts that only a unit knows: the matchers of the application's labels, the matcher of
// its model, which logs have, and the command that shows its clusters.
const (
	placeTopology = "%%juju_topology%%"
	placeModel    = "%%juju_model%%"
	placeStatus   = "%%cluster_status%%"
)

// For returns the rules for one application. They select its metrics only and have its labels, and the names of their
// groups are unique to it. clusterStatus is a command as a person types it.
func (r AlertRules) For(t Topology, clusterStatus string) AlertRules {
	var matchers []string
	for _, label := range []string{"juju_model", "juju_model_uuid", "juju_application"} {
		matchers = append(matchers, fmt.Sprintf("%s=%q", label, t.labels()[label]))
	}
	fill := strings.NewReplacer(placeTopology, strings.Join(matchers, ","), placeModel, matchers[1], placeStatus,
		clusterStatus)
	var all AlertRules
	for _, group := range r.Groups {
		g := AlertGroup{Name: fmt.Sprintf("%s_%.8s_%s_%s", t.Model, t.ModelUUID, t.App, group.Name)}
		for _, rule := range group.Rules {
			labels := maps.Clone(rule.Labels)
			maps.Copy(labels, t.labels())
			annotations := maps.Clone(rule.Annotations)
			for key, text := range annotations {
				annotations[key] = fill.Replace(text)
			}
			g.Rules = append(g.Rules, AlertRule{
				Alert: rule.Alert, Expr: fill.Replace(rule.Expr), For: rule.For, Labels: labels, Annotations: annotations,
			})
		}
		all.Groups = append(all.Groups, g)
	}
	return all
}

// scrapeJob is an entry of scrape_configs in Prometheus' configuration.
type scrapeJob struct {
	Name    string         `json:"job_name"`
	Path    string         `json:"metrics_path"`
	Targets []staticConfig `json:"static_configs"`
}

type staticConfig struct {
	Targets []string `json:"targets"`
}

func job(name, target string) scrapeJob {
	return scrapeJob{Name: name, Path: exporterPath, Targets: []staticConfig{{[]string{target}}}}
}

// ScrapeDatabag returns the data on [Metrics]. The application's data, which the leader writes, has the job while the
// option asks for an exporter; the asterisk in its target represents each unit with an address. A unit has one only
// while its own exporter is installed: an invalid address removes both of its keys.
func ScrapeDatabag(t Topology, wanted bool, address netip.Addr, rules AlertRules) (app, unit map[string]string) {
	unit = map[string]string{keyScrapeAddress: "", keyScrapeUnit: ""}
	if address.IsValid() {
		unit = map[string]string{keyScrapeAddress: bracketed(address), keyScrapeUnit: t.Unit}
	}
	if !wanted {
		return map[string]string{keyScrapeJobs: "[]", keyScrapeMetadata: "", keyAlertRules: ""}, unit
	}
	metadata := map[string]string{
		"model": t.Model, "model_uuid": t.ModelUUID, "application": t.App, "unit": t.Unit,
		"charm_name": t.Charm,
	}
	return map[string]string{
		keyScrapeJobs:     marshal([]scrapeJob{job(exporterJob, "*:"+exporterPort)}),
		keyScrapeMetadata: marshal(metadata), keyAlertRules: marshal(rules),
	}, unit
}

// bracketed returns the address in front of a port: readers concatenate the two.
func bracketed(a netip.Addr) string {
	if a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}

// marshal returns v as JSON. Equal values give equal text.
func marshal[T []scrapeJob | map[string]string | AlertRules | agentConfig](v T) string {
	text, _ := json.Marshal(v) // strings always marshal
	return string(text)
}

// keyConfig is the key on [COSAgent], in the data of units. Source: cos_agent v0 of
// canonical/charm-relation-interfaces, and LIBPATCH 20 of the library
// grafana_agent/v0/cos_agent, which reads it.
const keyConfig = "config"

// agentConfig is the value of keyConfig. The reader requires all of these keys.
type agentConfig struct {
	MetricRules AlertRules  `json:"metrics_alert_rules"`
	LogRules    AlertRules  `json:"log_alert_rules"`
	Dashboards  []string    `json:"dashboards"`
	Jobs        []scrapeJob `json:"metrics_scrape_jobs"`
	LogSlots    []string    `json:"log_slots"`
	Tracing     []string    `json:"tracing_protocols"`
}

// agentJob is the job of the unit's own agent.
const agentJob = "ovn-central-agent"

// COSAgentDatabag returns what a unit publishes on [COSAgent]. The COS agent runs on the same machine, so the jobs
// are at localhost: the exporter's job if the exporter is installed, and the job of the unit's own agent if that has
// a port. Without both, the data is empty. logs are rules for Loki: the COS agent sends Loki everything below
// /var/log, where OVN's servers log. Dashboards are encoded as content.Dashboards does it.
func COSAgentDatabag(
	t Topology, installed bool, port uint16, rules, logs AlertRules, dashboards []string,
) map[string]string {
	// The COS agent may serve several applications of the machine.
	jobs := []scrapeJob{}
	if installed {
		jobs = append(jobs, job(t.App+"_"+exporterJob, "localhost:"+exporterPort))
	}
	if port != 0 {
		jobs = append(jobs, job(t.App+"_"+agentJob, fmt.Sprintf("localhost:%d", port)))
	}
	if len(jobs) == 0 {
		return map[string]string{keyConfig: ""}
	}
	return map[string]string{keyConfig: marshal(agentConfig{
		MetricRules: rules,
		LogRules:    logs,
		Dashboards:  dashboards,
		Jobs:        jobs,
		LogSlots:    []string{},
		Tracing:     []string{},
	})}
}

// The keys on [NRPE]. Source: contrib/charmsupport/nrpe.py of charm-helpers, and
// hooks/nrpe_helpers.py of nrpe's charm, which reads them.
const (
	keyMonitors    = "monitors"
	keyPrimary     = "primary"
	keyNagiosHost  = "nagios_hostname"
	keyHostContext = "nagios_host_context"
)

// NagiosHost has a unit's names in Nagios.
type NagiosHost struct {
	// Host is the name of the unit's host, Unit the unit's name in descriptions.
	Host, Unit string
}

var nagiosName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// IsNagiosName reports whether a name has at most 128 bytes, all of which are safe in the name of a file and in a line
// that Nagios reads.
func IsNagiosName(name string) bool { return len(name) <= 128 && nagiosName.MatchString(name) }

// ParseNagiosHost parses what nrpe's charm has published. Without a published host name, it makes one of context (the
// option nagios_context) and the unit's name. It omits malformed names and reports them in err; the host is usable
// anyway.
func ParseNagiosHost(unit, context string, databag map[string]string) (h NagiosHost, err error) {
	var ignored []string
	published := func(key string) string {
		value := databag[key]
		if value != "" && !IsNagiosName(value) {
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

// MonitorsDatabag publishes to nrpe's charm the names of the checks that the NRPE server offers, of which there may be
// none. The unit is the principal one of its machine, which gives the host its name.
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
	// This always marshals.
	text, _ := json.Marshal(map[string]any{"monitors": map[string]any{"remote": map[string]any{"nrpe": nrpe}}})
	return map[string]string{keyMonitors: string(text), keyPrimary: "True"}
}
