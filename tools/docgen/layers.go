package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/archtest"
)

// Measures of the picture, in pixels.
const (
	boxHeight, boxGap = 30, 16
	rowHeight         = 78
	charWidth         = 8
	margin            = 24
	leastWidth        = 980 // of the picture; a row of many packages makes it wider
)

// internalPath is what the import paths of the layers' packages begin with.
const internalPath = "github.com/ovn-central/ovn-central-operator/internal/"

// box is a package of the picture.
type box struct {
	name        string
	pure        bool
	x, y, width int
}

func (b box) middle() int { return b.x + b.width/2 }

// layersPicture draws the packages of internal/ in the layers that archtest has them in,
// and what each imports: of two ways from one to another the direct one is left out where
// the other goes through a third (the transitive reduction).
func layersPicture(root string) ([]byte, error) {
	imports := map[string][]string{}
	rows := append(slices.Clone(archtest.Layers), archtest.Pure)
	for _, name := range slices.Concat(rows...) {
		found, err := importsOf(filepath.Join(root, "internal", name))
		if err != nil {
			return nil, err
		}
		if found != nil {
			imports[name] = found
		}
	}
	boxes, pictureWidth := place(rows, imports)
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" font-size="13">`+"\n",
		pictureWidth, 2*margin+len(rows)*rowHeight-(rowHeight-boxHeight))
	svg.WriteString("<title>Packages of internal/ by layer; lines are imports, green packages are pure</title>\n" +
		`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		for _, to := range direct(imports, from) {
			drawImport(&svg, boxes[from], boxes[to])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(boxes)) {
		drawBox(&svg, boxes[name])
	}
	svg.WriteString("</svg>\n")
	return svg.Bytes(), nil
}

// importsOf is which packages of internal/ the program's files in a directory import; nil
// where there is no such directory, as for a package that is planned.
func importsOf(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	found := []string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			return nil, fmt.Errorf("cannot read the imports of %s: %w", file, err)
		}
		for _, spec := range tree.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, fmt.Errorf("cannot read the imports of %s: %w", file, err)
			}
			if name, ok := strings.CutPrefix(path, internalPath); ok && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found, nil
}

// direct are the imports of a package that it has through none of its others.
func direct(imports map[string][]string, from string) []string {
	all := slices.DeleteFunc(slices.Sorted(slices.Values(imports[from])), func(to string) bool { return imports[to] == nil })
	return slices.DeleteFunc(slices.Clone(all), func(to string) bool {
		return slices.ContainsFunc(all, func(by string) bool { return by != to && reaches(imports, by, to) })
	})
}

func reaches(imports map[string][]string, from, to string) bool {
	return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(imports, next, to) })
}

// place gives each package its box, a row for each layer, spread over the width of the picture.
func place(rows [][]string, imports map[string][]string) (boxes map[string]box, pictureWidth int) {
	boxes, pictureWidth = map[string]box{}, leastWidth
	shown := make([][]string, len(rows))
	for row, names := range rows {
		shown[row] = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return imports[name] == nil })
		pictureWidth = max(pictureWidth, 2*margin+widthOf(shown[row]))
	}
	for row, names := range shown {
		space := (pictureWidth - 2*margin - widthOf(names)) / (len(names) + 1)
		x := margin + space
		for _, name := range names {
			b := box{name: name, pure: slices.Contains(archtest.Pure, name), x: x, y: margin + row*rowHeight, width: boxWidth(name)}
			boxes[name] = b
			x += b.width + boxGap + space
		}
	}
	return boxes, pictureWidth
}

func boxWidth(name string) int { return charWidth * (len(name) + 2) }

// widthOf is the least width of a row.
func widthOf(names []string) int {
	width := -boxGap
	for _, name := range names {
		width += boxWidth(name) + boxGap
	}
	return width
}

// drawImport draws a curve from below the one that imports to above what it imports; within
// a row, an arc below it.
func drawImport(svg *bytes.Buffer, from, to box) {
	colour := "#9aa5b1"
	if to.pure {
		colour = "#7fb98b"
	}
	x1, y1, x2, y2 := from.middle(), from.y+boxHeight, to.middle(), to.y
	bend := cmp.Or((y2-y1)/2, 1)
	if from.y == to.y {
		y2, bend = y1, boxHeight
	}
	end := y2 - bend
	if from.y == to.y {
		end = y2 + bend
	}
	fmt.Fprintf(svg, `<path d="M%d %d C%d %d %d %d %d %d" fill="none" stroke="%s"/>`+"\n", x1, y1, x1, y1+bend, x2, end, x2, y2, colour)
}

func drawBox(svg *bytes.Buffer, b box) {
	fill, stroke := "#eef2f7", "#52606d"
	if b.pure {
		fill, stroke = "#e3f4e6", "#2f7d3b"
	}
	fmt.Fprintf(svg, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="%s"/>`, b.x, b.y, b.width, boxHeight, fill, stroke)
	fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="middle" fill="#1f2933">%s</text>`+"\n", b.middle(), b.y+boxHeight/2+5, b.name)
}
