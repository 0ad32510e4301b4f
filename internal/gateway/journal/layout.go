package journal

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Layout holds the operator's decisions about gateways. Its canonical form is JSON with sorted names.
type Layout struct {
	// Gateways has the chassis of each group of candidates, best first: the order in which OVN chooses, not the
	// priorities.
	Gateways map[string][]string `json:"gateways"`
	// Cordons lists the cordoned chassis, sorted.
	Cordons []string `json:"cordons,omitempty"`
}

// Of returns the layout of a state. Cordons may name chassis that the state does not have: a cordon outlives its
// chassis.
func Of(state schedule.State, cordons []string) Layout {
	l := Layout{Gateways: map[string][]string{}, Cordons: slices.Compact(slices.Sorted(slices.Values(cordons)))}
	for _, g := range state.Groups {
		l.Gateways[g.Name] = g.Ranked()
	}
	return l
}

// WithCordon returns the layout with a chassis cordoned or not.
func (l Layout) WithCordon(chassis string, cordoned bool) Layout {
	l.Cordons = slices.DeleteFunc(slices.Clone(l.Cordons), func(c string) bool { return c == chassis })
	if cordoned {
		l.Cordons = slices.Sorted(slices.Values(append(l.Cordons, chassis)))
	}
	return l
}

// WithPlan returns the layout after a plan.
func (l Layout) WithPlan(p schedule.Plan) Layout {
	l.Gateways = maps.Clone(l.Gateways)
	if l.Gateways == nil {
		l.Gateways = map[string][]string{}
	}
	for _, c := range p.Changes {
		l.Gateways[c.Group] = schedule.Ranked(c.After)
	}
	return l
}

// id returns the ID of the layout. The leading letter keeps YAML from reading it as a number.
func (l Layout) id() string { return "r" + digest(l) }

// bodyID returns the ID of the gateways. Layouts that differ only in cordons share it.
func (l Layout) bodyID() string { return "b" + digest(l.Gateways) }

// digest returns the first 48 bits of the SHA-256 of the canonical form, in hex.
func digest(of any) string {
	sum := sha256.Sum256([]byte(text(of)))
	return hex.EncodeToString(sum[:6])
}

// maxBody bounds the unpacked size, in bytes: 100,000 gateways have 25 MB.
const maxBody = 64 << 20

// pack returns the gateways in their stored form: deflated (RFC 1951), in base64.
func (l Layout) pack() string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.DefaultCompression) // the level is valid
	_, _ = io.WriteString(w, text(l.Gateways))            // into a buffer, which takes all
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func unpack(packed string) (gateways map[string][]string, err error) {
	raw, err := base64.StdEncoding.DecodeString(packed)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(raw)), maxBody)).Decode(&gateways)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot unpack a layout: %w", err)
	}
	return gateways, nil
}

// Diff lists the differences of two layouts: gateways by name, then cordons.
func Diff(from, to Layout) (all []answer.Message) {
	for _, name := range union(slices.Collect(maps.Keys(from.Gateways)), slices.Collect(maps.Keys(to.Gateways))) {
		was, had := from.Gateways[name]
		is, has := to.Gateways[name]
		if had != has || !slices.Equal(was, is) {
			text := candidates(was, had) + " -> " + candidates(is, has)
			all = append(all, answer.Message{Message: text, Kind: answer.MessageGateway, Name: name})
		}
	}
	for _, c := range union(from.Cordons, to.Cordons) {
		text := "cordoned -> not cordoned"
		if !slices.Contains(from.Cordons, c) {
			text = "not cordoned -> cordoned"
		}
		if slices.Contains(from.Cordons, c) != slices.Contains(to.Cordons, c) {
			all = append(all, answer.Message{Message: text, Kind: messageCordon, Name: c})
		}
	}
	return all
}

func union(a, b []string) []string {
	return slices.Compact(slices.SortedFunc(slices.Values(slices.Concat(a, b)), schedule.CompareNames))
}

func candidates(chassis []string, there bool) string {
	switch {
	case !there:
		return "not there"
	case len(chassis) == 0:
		return "no candidates"
	}
	return strings.Join(chassis, ", ")
}
