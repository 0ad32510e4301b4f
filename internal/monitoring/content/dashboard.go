package content

import (
	_ "embed" // the panels
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// Title and UID are the same as in the Python charm's dashboard, which this one replaces: the observability stack
// shows one dashboard for each title and UID.
const (
	dashboardTitle = "Juju: OVN Central (OVSDB)"
	dashboardUID   = "2242b26722e7d0026fb829afb49b23132ebffb47"
)

// panelRows has the panels of the dashboard, in rows by subject. In its expressions $S is for [selection].
//
//go:embed panels.json
var panelRows []byte

// selection matches the series that the dashboard's variables select.
const selection = `juju_model=~"$juju_model",juju_model_uuid=~"$juju_model_uuid",` +
	`juju_application=~"$juju_application",juju_unit=~"$juju_unit"`

const findingsPage = "reference/findings.html"

type (
	// object is an object of JSON.
	object map[string]any
	row    struct {
		Title     string
		Collapsed bool
		Panels    []panel
	}
	panel struct {
		Title string
		// Kind is stat, timeseries, state-timeline or table, and Unit a unit of Grafana.
		Kind, Unit string
		// About is the description. Page is the page of the documents about what to do.
		About, Page string
		Queries     []query
		// Values are texts to show instead of numbers. Names shows the legend instead of values.
		Values map[string]shown
		Names  bool
		// Thresholds are the bounds of colours: red below the first bound, green from the last one.
		Thresholds []int
	}
	query struct{ Expr, Legend string }
	shown struct {
		Text  string `json:"text"`
		Color string `json:"color"`
	}
)

// Dashboards returns the dashboards for Grafana in the form that the relation cos-agent requires: each as JSON,
// compressed by xz, in base64. They are the same for every unit.
func Dashboards() []string {
	text, _ := json.Marshal(dashboard(parse[[]row](panelRows))) // texts and numbers always marshal
	return []string{base64.StdEncoding.EncodeToString(xz(text))}
}

func dashboard(rows []row) object {
	variables := []object{{
		"name": "prometheusds", "label": "Prometheus", "type": "datasource", "query": "prometheus",
	}}
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
		"title": dashboardTitle, "uid": dashboardUID, "tags": []string{"charm: ovn-central"},
		"schemaVersion": 38, "version": 2, "editable": true, "refresh": "1m",
		"graphTooltip": 1, // the panels share a crosshair
		"time":         object{"from": "now-3h", "to": "now"}, "timezone": "",
		"templating": object{"list": variables}, "panels": place(rows),
		"annotations": object{"list": []object{{
			"name": "Alerts", "datasource": source(), "enable": true, "iconColor": "red",
			"expr":        `ALERTS{alertstate="firing",` + selection + `}`,
			"titleFormat": "{{alertname}}", "textFormat": "{{juju_unit}} {{database}}", "step": "60s",
		}}},
		"links": []object{link("Findings", findingsPage), link("Alerts and metrics", "reference/monitoring.html")},
	}
}

func source() object { return object{"type": "prometheus", "uid": "${prometheusds}"} }

func link(title, page string) object {
	return object{"title": title, "type": "link", "url": version.Docs + page, "targetBlank": true, "icon": "doc"}
}

// width is the width of a panel in Grafana's 24 columns; height is in Grafana's units.
const width, height = 8, 7

// place puts three panels of a row beside each other.
func place(rows []row) (all []object) {
	y := 0
	for _, r := range rows {
		title := object{
			"type": "row", "title": r.Title, "collapsed": r.Collapsed,
			"gridPos": object{"x": 0, "y": y, "w": 24, "h": 1}, "panels": []object{},
		}
		all = append(all, title)
		y++
		var inside []object
		for i, p := range r.Panels {
			if i > 0 && i%3 == 0 {
				y += height
			}
			drawn := p.draw()
			drawn["gridPos"] = object{"x": i % 3 * width, "y": y, "w": width, "h": height}
			inside = append(inside, drawn)
		}
		y += height
		if r.Collapsed {
			title["panels"] = inside
		} else {
			all = append(all, inside...)
		}
	}
	number(all, 0)
	return all
}

// number numbers the panels in order, and returns the last ID.
func number(panels []object, last int) int {
	for _, p := range panels {
		last++
		p["id"] = last
		if inside, is := p["panels"].([]object); is {
			last = number(inside, last)
		}
	}
	return last
}

// draw returns the panel in Grafana's form, without its place and ID.
func (p panel) draw() object {
	defaults, options := object{"unit": p.Unit}, object{}
	overrides, transformations := []object{}, []object{}
	var targets []object
	for i, q := range p.Queries {
		target := object{
			"refId": string(rune('A' + i)), "datasource": source(),
			"expr": strings.ReplaceAll(q.Expr, "$S", selection), "legendFormat": q.Legend,
		}
		if p.Kind == "table" {
			target["format"], target["instant"] = "table", true
		}
		targets = append(targets, target)
	}
	if p.Thresholds != nil {
		defaults["thresholds"] = object{"mode": "absolute", "steps": thresholds(p.Thresholds)}
	}
	if p.Values != nil {
		defaults["mappings"] = []object{{"type": "value", "options": p.Values}}
	}
	if p.Names {
		options["textMode"] = "name"
	}
	if p.Kind == "table" {
		excluded := object{"excludeByName": object{"Time": true, "Value": true}}
		transformations = append(transformations, object{"id": "organize", "options": excluded})
		to := object{
			"title": "What it means, and what to do", "url": version.Docs + findingsPage + "#${__value.raw}",
			"targetBlank": true,
		}
		overrides = append(overrides, object{
			"matcher":    object{"id": "byName", "options": "code"},
			"properties": []object{{"id": "links", "value": []object{to}}},
		})
	}
	drawn := object{
		"type": p.Kind, "title": p.Title, "description": p.About, "datasource": source(), "targets": targets,
		"options": options, "transformations": transformations,
		"fieldConfig": object{"defaults": defaults, "overrides": overrides},
	}
	if p.Page != "" {
		drawn["links"] = []object{link("What to do", p.Page)}
	}
	return drawn
}

// thresholds returns thresholds in Grafana's form: red, orange between the bounds, and green.
func thresholds(bounds []int) []object {
	all := []object{{"color": "red", "value": nil}}
	for i, bound := range bounds {
		color := "orange"
		if i == len(bounds)-1 {
			color = "green"
		}
		all = append(all, object{"color": color, "value": bound})
	}
	return all
}
