package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ovn-central/ovn-central-operator/internal/archtest"
)

// Measures of the picture, in pixels.
const (
	layerHeight, layerGap = 34, 14
	pureWidth, pureLine   = 190, 19
	charWidth             = 8
	margin                = 20
)

// layersPicture draws the layers of internal/ from archtest's table: a box for each layer, with the names of its
// packages, an arrow from each to the next lower one, and beside them one box for the pure packages, which every
// layer may import.
func layersPicture(string) ([]byte, error) {
	layers := []string{"cmd"}
	width := 0
	for _, names := range archtest.Layers {
		text := strings.Join(names, " · ")
		layers = append(layers, text)
		width = max(width, charWidth*(utf8.RuneCountInString(text)+2))
	}
	height := max(len(layers)*(layerHeight+layerGap)-layerGap, (len(archtest.Pure)+2)*pureLine)
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" `+
		`font-family="monospace" font-size="12">`+"\n",
		3*margin+width+pureWidth, 2*margin+height)
	svg.WriteString("<title>Layers of internal/: imports run downwards, and to the pure packages " +
		"from everywhere</title>\n" +
		`<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">` +
		`<path d="M0 0L8 4L0 8z" fill="#52606d"/></marker></defs>` + "\n" +
		`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	middle := margin + width/2
	for i, text := range layers {
		y := margin + i*(layerHeight+layerGap)
		drawBox(&svg, margin, y, width, layerHeight, "#eef2f7", "#52606d")
		drawText(&svg, middle, y+layerHeight/2+4, text)
		if i > 0 {
			fmt.Fprintf(&svg, `<line x1="%[1]d" y1="%[2]d" x2="%[1]d" y2="%[3]d" stroke="#52606d" marker-end="url(#end)"/>`+"\n",
				middle, y-layerGap, y)
		}
	}
	x := 2*margin + width
	drawBox(&svg, x, margin, pureWidth, height, "#e3f4e6", "#2f7d3b")
	for i, name := range append([]string{"pure:"}, archtest.Pure...) {
		drawText(&svg, x+pureWidth/2, margin+pureLine*(i+1), name)
	}
	svg.WriteString("</svg>\n")
	return svg.Bytes(), nil
}

func drawBox(svg *bytes.Buffer, x, y, width, height int, fill, stroke string) {
	fmt.Fprintf(svg, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="%s"/>`+"\n", x, y, width, height,
		fill, stroke)
}

func drawText(svg *bytes.Buffer, x, y int, text string) {
	fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="middle" fill="#1f2933">%s</text>`+"\n", x, y, text)
}
