// Package picture draws a plan for gateways: chassis as columns, the gateways that change as rows, their ranks in the
// cells, and an arrow for each move. It is pure: the same plan gives the same bytes.
package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

const (
	// The bounds of a picture. It counts what does not fit.
	maxRows    = 200
	maxColumns = 40
)

const (
	// Measures, in pixels; charWidth is the width of a letter of the font.
	margin      = 20
	labelWidth  = 260
	columnWidth = 150
	rowHeight   = 44
	lineHeight  = 17
	charWidth   = 8
)

const (
	// Colours of the host after the plan, of the host before, and of backups.
	ink    = "#1f2933"
	faint  = "#9aa5b1"
	hosts  = "#2f855a"
	hosted = "#c53030"
	backup = "#e4e7eb"
)

// SVG returns the picture of a plan, as a complete document.
func SVG(p schedule.Plan) []byte {
	d := newDrawing(p)
	d.header()
	for i, c := range d.changes {
		d.row(c, d.top+i*rowHeight)
	}
	d.footer()
	var out bytes.Buffer
	width := margin*2 + labelWidth + columnWidth*max(len(d.columns), 1)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`+
		` font-family="monospace" font-size="13" fill="%s">`+"\n",
		width, d.bottom, width, d.bottom, ink)
	out.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"` +
		` orient="auto"><path d="M0 0L8 4L0 8z" fill="` + hosted + `"/></marker></defs>` + "\n")
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, d.bottom)
	out.Write(d.body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

type drawing struct {
	plan    schedule.Plan
	changes []schedule.Change
	columns []string
	names   map[string]string
	// top is where the rows begin, bottom where the picture ends.
	top, bottom int
	body        bytes.Buffer
}

func newDrawing(p schedule.Plan) *drawing {
	changes := slices.SortedStableFunc(slices.Values(p.Changes),
		func(a, b schedule.Change) int { return schedule.CompareNames(a.Group, b.Group) })
	d := &drawing{plan: p, changes: changes[:min(len(changes), maxRows)], names: map[string]string{}}
	for _, n := range slices.Concat(p.Before, p.After) {
		for _, h := range n.Hosts {
			d.names[h.Chassis] = h.Hostname
		}
	}
	concerned := map[string]bool{}
	for _, c := range d.changes {
		for _, one := range slices.Concat(c.Before, c.After) {
			concerned[one.Chassis] = true
			if _, known := d.names[one.Chassis]; !known {
				d.names[one.Chassis] = ""
			}
		}
	}
	for name := range d.names {
		if concerned[name] || len(d.names) <= maxColumns {
			d.columns = append(d.columns, name)
		}
	}
	slices.SortFunc(d.columns, schedule.CompareNames)
	d.columns = d.columns[:min(len(d.columns), maxColumns)]
	return d
}

func (d *drawing) header() {
	c := d.plan.Cost
	y := margin + lineHeight
	title := fmt.Sprintf("%s: gateways %d, rows %d, interruptions %d", d.plan.Operation, c.Gateways, c.Rows,
		c.Interruptions)
	fmt.Fprintf(&d.body, "<title>%s</title>\n", escape(title))
	d.text(margin, y, `font-weight="bold"`, title, 0)
	y += 2 * lineHeight
	for i, name := range d.columns {
		d.text(d.x(i), y, `text-anchor="middle" font-weight="bold"`, name, columnWidth)
		if host := d.names[name]; host != "" && host != name {
			d.text(d.x(i), y+lineHeight, `text-anchor="middle" fill="`+faint+`"`, host, columnWidth)
		}
	}
	y += 2 * lineHeight
	for _, n := range d.plan.After {
		d.text(margin, y, "", "should host of "+n.Name, labelWidth)
		for i, name := range d.columns {
			before, there := load(d.plan.Before, n.Name, name)
			after, stays := load(d.plan.After, n.Name, name)
			if there || stays {
				d.text(d.x(i), y, `text-anchor="middle"`, becomes(before, after), columnWidth)
			}
		}
		y += lineHeight
	}
	d.top = y + lineHeight
	d.bottom = d.top + len(d.changes)*rowHeight + 3*lineHeight + margin
	for i := range d.columns {
		fmt.Fprintf(&d.body, `<path d="M%d %dV%d" stroke="%s"/>`+"\n", d.x(i), d.top-lineHeight/2,
			d.top+len(d.changes)*rowHeight, backup)
	}
}

func (d *drawing) row(c schedule.Change, y int) {
	middle := y + rowHeight/2
	d.text(margin, middle+5, "", c.Group, labelWidth)
	before, after := ranks(c.Before), ranks(c.After)
	for i, name := range d.columns {
		was, is := before[name], after[name]
		if was == 0 && is == 0 {
			continue
		}
		fill, stroke, text := backup, backup, ink
		switch {
		case is == 1:
			fill, stroke, text = hosts, hosts, "#ffffff"
		case was == 1:
			fill, stroke = "#ffffff", hosted
		case is == 0:
			fill, stroke = "#ffffff", faint
		}
		label := rank(was) + " → " + rank(is)
		if was == is {
			label = rank(is)
		}
		fmt.Fprintf(&d.body, `<rect x="%d" y="%d" width="56" height="22" rx="11" fill="%s" stroke="%s" stroke-width="2"/>`,
			d.x(i)-28, middle-11, fill, stroke)
		d.text(d.x(i), middle+5, `text-anchor="middle" fill="`+text+`"`, label, 0)
	}
	from, to := slices.Index(d.columns, c.From()), slices.Index(d.columns, c.To())
	if from < 0 || to < 0 || from == to {
		return
	}
	x1, x2, top := d.x(from), d.x(to), middle-11
	fmt.Fprintf(&d.body, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="%s" stroke-width="2"`+
		` marker-end="url(#tip)"/>`+"\n",
		x1, top, (x1*2+x2)/3, top-15, (x1+x2*2)/3, top-15, x2, top-1, hosted)
}

func (d *drawing) footer() {
	y := d.top + len(d.changes)*rowHeight + lineHeight
	switch left := len(d.plan.Changes) - len(d.changes); {
	case left > 0:
		d.text(margin, y, "", fmt.Sprintf("… and %d more gateways", left), 0)
	case len(d.changes) == 0:
		d.text(margin, y, "", "no gateway changes", 0)
	}
	d.text(margin, y+lineHeight, `fill="`+faint+`"`,
		"before → after: 1 hosts the gateway, 2 is the first to take over, – is no candidate", 0)
}

func (d *drawing) x(column int) int {
	return margin + labelWidth + column*columnWidth + columnWidth/2
}

// text draws a text. It cuts out the middle to fit the width, unless that is 0: names differ at their ends as often as
// at their beginnings. The title of a cut text is the whole text.
func (d *drawing) text(x, y int, attributes, text string, width int) {
	shown, whole := text, ""
	if letters, room := []rune(text), width/charWidth-1; width > 0 && len(letters) > room+1 {
		shown = string(letters[:room-room/2]) + "…" + string(letters[len(letters)-room/2:])
		whole = "<title>" + escape(text) + "</title>"
	}
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(&d.body, `<text x="%d" y="%d"%s>%s%s</text>`+"\n", x, y, attributes, escape(shown), whole)
}

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a strings.Builder returns no error
	return out.String()
}

// ranks returns the rank of each candidate. The chassis that hosts the gateway has rank 1.
func ranks(candidates []schedule.Candidate) map[string]int {
	all := map[string]int{}
	for i, c := range candidates {
		if all[c.Chassis] == 0 {
			all[c.Chassis] = i + 1
		}
	}
	return all
}

func rank(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

func load(networks []schedule.Network, network, chassis string) (masters int, found bool) {
	for _, n := range networks {
		for _, h := range n.Hosts {
			if n.Name == network && h.Chassis == chassis {
				return h.Masters, true
			}
		}
	}
	return 0, false
}

func becomes(before, after int) string {
	if before == after {
		return fmt.Sprint(after)
	}
	return fmt.Sprintf("%d → %d", before, after)
}
