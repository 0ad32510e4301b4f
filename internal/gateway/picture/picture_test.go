package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/picture"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
)

func candidates(chassis ...string) []schedule.Candidate {
	var all []schedule.Candidate
	for i, c := range chassis {
		all = append(all, schedule.Candidate{Chassis: c, Priority: len(chassis) - i})
	}
	return all
}

// crowded returns a state of three chassis. The third one was added, and hosts nothing yet.
func crowded(n int) schedule.State {
	var s schedule.State
	for _, name := range []string{"c1", "c2", "c3"} {
		s.Chassis = append(s.Chassis, schedule.Chassis{
			Name: name, Hostname: "host-" + name, Gateway: true,
			Networks: []string{"physnet1"},
		})
	}
	for i := range n {
		first, second := "c1", "c2"
		if i%2 == 1 {
			first, second = second, first
		}
		name := fmt.Sprintf("lrp-%d", i)
		s.Groups = append(s.Groups, schedule.Group{
			Name: name, Storage: schedule.GatewayChassis, Candidates: candidates(first, second, "c3"),
			Ports: []schedule.Port{{Name: name, Router: fmt.Sprintf("r%d", i), Network: "physnet1", Active: first}},
		})
	}
	return s
}

// wellFormed reads the picture as XML, and returns the texts in it.
func wellFormed(t *testing.T, svg []byte) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		require.NoError(t, err)
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			texts = append(texts, string(text))
		}
	}
}

func TestSVG_rebalance(t *testing.T) {
	t.Parallel()
	svg := picture.SVG(schedule.Rebalance(crowded(6), schedule.Options{}))
	wellFormed(t, svg)
	goldentest.Equal(t, "rebalance.svg", string(svg))
	again := picture.SVG(schedule.Rebalance(crowded(6), schedule.Options{}))
	assert.Equal(t, svg, again, "the same plan, the same bytes")
	assert.Equal(t, 2, strings.Count(string(svg), "marker-end="), "each move has its arrow")
}

func TestSVG_names(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 60)
	p := schedule.Plan{Operation: "reschedule", Changes: []schedule.Change{
		{Group: `<script>alert("&")</script>`, Before: candidates("c<1>", "c&2"), After: candidates("c&2", "c<1>")},
		{Group: long, After: candidates("c\x00\x1b\xff3")},
	}}
	svg := picture.SVG(p)
	texts := wellFormed(t, svg)
	assert.Contains(t, texts, `<script>alert("&")</script>`)
	assert.Contains(t, texts, long, "what was cut is there as a title")
	assert.Contains(t, texts, "c<1>")
	assert.NotContains(t, string(svg), "<script")
	goldentest.Equal(t, "names.svg", string(svg))
}

func TestSVG_empty(t *testing.T) {
	t.Parallel()
	svg := picture.SVG(schedule.Plan{Operation: "rebalance"})
	wellFormed(t, svg)
	goldentest.Equal(t, "empty.svg", string(svg))
}

// A browser can open the picture of thousands of gateways.
func TestSVG_large_plan(t *testing.T) {
	t.Parallel()
	p := schedule.Plan{Operation: "rebalance"}
	for i := range 10_000 {
		p.Changes = append(p.Changes, schedule.Change{
			Group: fmt.Sprint("lrp-", i),
			After: candidates(fmt.Sprintf("c%d", i%300)),
		})
	}
	svg := picture.SVG(p)
	assert.Contains(t, wellFormed(t, svg), "… and 9800 more gateways")
	assert.Less(t, len(svg), 200_000)
}

// Host names often differ at their ends, so the middle is cut.
func TestSVG_long_host_names(t *testing.T) {
	t.Parallel()
	s := crowded(4)
	for i := range s.Chassis {
		s.Chassis[i].Hostname = fmt.Sprintf("network-gateway-of-the-second-row-%d", i)
	}
	shown := map[string]bool{}
	for _, text := range wellFormed(t, picture.SVG(schedule.Rebalance(s, schedule.Options{}))) {
		if strings.Contains(text, "…") {
			shown[text] = true
			assert.True(t, strings.HasPrefix(text, "network-"), text)
		}
	}
	assert.Len(t, shown, 3)
}
