package monitoring

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// Title and UID are those of the Python charm's dashboard: the observability stack shows one of a title and a uid.
const (
	dashboardTitle = "Juju: OVN Central (OVSDB)"
	dashboardUID   = "2242b26722e7d0026fb829afb49b23132ebffb47"
)

// selection is $S in an expression.
const selection = `juju_model=~"$juju_model",juju_model_uuid=~"$juju_model_uuid",juju_application=~"$juju_application",juju_unit=~"$juju_unit"`

// findingsPage is the page that explains each finding.
const findingsPage = "reference/findings.html"

// Kinds of panels, as Grafana calls them.
const (
	stat     = "stat"
	series   = "timeseries"
	timeline = "state-timeline"
	table    = "table"
)

// Colours.
const (
	red    = "red"
	orange = "orange"
	green  = "green"
	blue   = "blue"
)

// day is in seconds.
const day = 86400

type (
	// object is one of JSON.
	object map[string]any
	row    struct {
		title     string
		collapsed bool
		panels    []panel
	}
	panel struct {
		// about is its description, page the page of the documents that says what to do.
		title, kind, unit, about, page string
		queries                        []query
		// values are shown instead of the numbers; names shows the legend instead of them.
		values map[string]shown
		names  bool
		steps  []object
	}
	query struct{ expr, legend string }
	shown struct{ text, color string }
)

var yesNo = map[string]shown{"0": {"no", red}, "1": {"yes", green}}

// atLeast are the colours of numbers: red below the first bound, green from the last one.
func atLeast(bounds ...int) []object {
	steps := []object{{"color": red, "value": nil}}
	for i, bound := range bounds {
		color := orange
		if i == len(bounds)-1 {
			color = green
		}
		steps = append(steps, object{"color": color, "value": bound})
	}
	return steps
}

// Dashboards are the dashboards for Grafana in the form of the relation cos-agent: each as JSON, in the format of xz,
// in base64. They are the same for every unit.
func Dashboards() ([]string, error) {
	small, err := json.Marshal(dashboard())
	if err != nil {
		return nil, fmt.Errorf("cannot make the dashboard: %w", err)
	}
	return []string{base64.StdEncoding.EncodeToString(xz(small))}, nil
}

// dashboard is that of [board], in Grafana's form.
func dashboard() object {
	variables := []object{{"name": "prometheusds", "label": "Prometheus", "type": "datasource", "query": "prometheus"}}
	matchers := []string{}
	for _, name := range []string{"juju_model", "juju_model_uuid", "juju_application", "juju_unit"} {
		values := fmt.Sprintf("label_values(ovn_central_build_info{%s},%s)", strings.Join(matchers, ","), name)
		variables = append(variables, object{
			"name": name, "label": strings.ReplaceAll(name, "_", " "), "type": "query", "datasource": source(),
			"query": object{"query": values, "refId": "A"}, "definition": values, "refresh": 2, "sort": 1,
			"multi": true, "includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"},
		})
		matchers = append(matchers, fmt.Sprintf(`%s=~"$%s"`, name, name))
	}
	return object{
		"title": dashboardTitle, "uid": dashboardUID, "tags": []string{"charm: ovn-central"}, "schemaVersion": 38, "version": 2,
		"editable": true, "refresh": "1m", "time": object{"from": "now-3h", "to": "now"}, "timezone": "",
		"templating": object{"list": variables}, "panels": panels(),
		"links": []object{link("Findings", findingsPage), link("Alerts and metrics", "reference/monitoring.html")},
	}
}

func source() object { return object{"type": "prometheus", "uid": "${prometheusds}"} }

func link(title, page string) object {
	return object{"title": title, "type": "link", "url": version.Docs + page, "targetBlank": true, "icon": "doc"}
}

// width is of a panel, of the 24 columns that Grafana has; height is in its units.
const width, height = 8, 7

// panels lays the board out: three panels beside each other.
func panels() (all []object) {
	id, y := 0, 0
	place := func(x, w, h int) object { id++; return object{"x": x, "y": y, "w": w, "h": h} }
	for _, r := range board {
		title := object{"type": "row", "title": r.title, "collapsed": r.collapsed, "gridPos": place(0, 24, 1), "id": id, "panels": []object{}}
		y++
		var inside []object
		for i, p := range r.panels {
			if i > 0 && i%3 == 0 {
				y += height
			}
			drawn := p.draw()
			drawn["gridPos"], drawn["id"] = place(i%3*width, width, height), id
			inside = append(inside, drawn)
		}
		y += height
		if all = append(all, title); r.collapsed {
			title["panels"] = inside
			continue
		}
		all = append(all, inside...)
	}
	return all
}

// draw is the panel in Grafana's form, without its place.
func (p panel) draw() object {
	defaults, options, overrides, transformations := object{"unit": p.unit}, object{}, []object{}, []object{}
	var targets []object
	for i, q := range p.queries {
		target := object{"refId": string(rune('A' + i)), "datasource": source(), "expr": strings.ReplaceAll(q.expr, "$S", selection), "legendFormat": q.legend}
		if p.kind == table {
			target["format"], target["instant"] = "table", true
		}
		targets = append(targets, target)
	}
	if p.steps != nil {
		defaults["thresholds"] = object{"mode": "absolute", "steps": p.steps}
	}
	if p.values != nil {
		mapping := object{}
		for value, s := range p.values {
			mapping[value] = object{"text": s.text, "color": s.color}
		}
		defaults["mappings"] = []object{{"type": "value", "options": mapping}}
	}
	if p.names {
		options["textMode"] = "name"
	}
	if p.kind == table {
		transformations = append(transformations, object{"id": "organize", "options": object{"excludeByName": object{"Time": true, "Value": true}}})
		to := []object{{"title": "What it means, and what to do", "url": version.Docs + findingsPage + "#${__value.raw}", "targetBlank": true}}
		overrides = append(overrides, object{"matcher": object{"id": "byName", "options": "code"}, "properties": []object{{"id": "links", "value": to}}})
	}
	drawn := object{
		"type": p.kind, "title": p.title, "description": p.about, "datasource": source(), "targets": targets, "options": options,
		"fieldConfig": object{"defaults": defaults, "overrides": overrides}, "transformations": transformations,
	}
	if p.page != "" {
		drawn["links"] = []object{link("What to do", p.page)}
	}
	return drawn
}
