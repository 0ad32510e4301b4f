package maintenance

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Names of the derived holds. They are not stored.
const (
	// HoldCompute is the hold of the ports of virtual machines.
	HoldCompute = "nova-compute"
	// HoldGateway is the hold of gateways that are bound to the node.
	HoldGateway = "gateway"
	// HoldExternal is the hold of external ports that the node serves.
	HoldExternal = "external"
	// HoldMember is the hold of a unit of this charm on the node's machine.
	HoldMember = "ovn-central"
)

// Hold is a reason why a node can't go.
type Hold struct {
	Name string `json:"name" yaml:"name"`
	// Count is the number of ports or members; it is 1 for a hold that was set.
	Count int `json:"count" yaml:"count"`
	// Derived reports whether the hold follows from the ports or members on the node: then it can't be released.
	Derived bool `json:"derived" yaml:"derived"`
	// Examples names a few of the counted ports or members.
	Examples []string `json:"examples,omitempty" yaml:"examples,omitempty"`
	// Note is set with the hold. The reason of a derived hold names the claim of the chassis.
	Note `yaml:",inline"`

	raw string
}

// key is the hold's name in the database. It differs from Name if another client has set an unclean name.
func (h Hold) key() string { return cmp.Or(h.raw, h.Name) }

// Age returns the age of the hold. The age of a derived hold is not known.
func (h Hold) Age(now time.Time) (age time.Duration, known bool) {
	if h.Derived || h.At.IsZero() {
		return 0, false
	}
	return max(0, now.Sub(h.At)).Round(time.Second), true
}

// Detail describes the hold for people; since is when a derived hold was first seen.
func (h Hold) Detail(now, since time.Time) string {
	var parts []finding.Reason
	add := func(r finding.Reason) { parts = append(parts, r) }
	switch {
	case h.Name == HoldMember && h.Derived:
		add(finding.Quote(strings.TrimSpace(strings.Join(h.Examples, ", ") + " " + h.Reason)))
	case h.Derived:
		ports := strings.Join(h.Examples, ", ")
		if more := h.Count - len(h.Examples); more > 0 {
			ports += fmt.Sprintf(", … %d more", more)
		}
		add(finding.Reason{Code: finding.HoldPorts, Value: schedule.Count(h.Count, "port"), Name: ports})
	default:
		if h.Reason != "" {
			add(finding.Quote(h.Reason))
		}
		if h.By != "" {
			add(finding.Reason{Code: finding.HoldSetBy, Name: h.By})
		}
	}
	if age, known := h.Age(now); known {
		add(finding.Reason{Code: finding.HoldAge, Age: age})
	} else if !since.IsZero() {
		add(finding.Reason{Code: finding.HoldSeenFor, Age: max(0, now.Sub(since)).Round(time.Second)})
	}
	if len(parts) == 0 {
		add(finding.Reason{Code: finding.HoldUnexplained})
	}
	return finding.Reason{Code: finding.Listed, Because: parts}.String()
}

// Binding is a port that is bound to a chassis in SB.
type Binding struct{ Port, Type, Chassis string }

const examples = 3

// holdOf maps the types of ports (Port_Binding in ovn-sb(5)) to their holds. OVN itself makes the ports of other types,
// or makes them on every chassis.
var holdOf = map[string]string{
	"": HoldCompute, "virtual": HoldCompute,
	"chassisredirect": HoldGateway, "l3gateway": HoldGateway, "l2gateway": HoldGateway, "vtep": HoldGateway,
	"external": HoldExternal,
}

// OfGateway reports whether the port is a gateway, or follows one.
func (b Binding) OfGateway() bool { return Hold{Name: holdOf[b.Type]}.OfGateways() }

// OfGateways reports whether the hold is about gateways, or about ports that follow them.
func (h Hold) OfGateways() bool { return h.Name == HoldGateway || h.Name == HoldExternal }

// ofDrain reports whether a drain waits for the end of the hold. A unit of the charm does not hold a drain: its servers
// keep serving if the node is only rebooted.
func (h Hold) ofDrain() bool { return h.Name != HoldMember }

// OfDrain returns the holds that a drain waits for.
func OfDrain(all []Hold) (holds []Hold) {
	for _, h := range all {
		if h.ofDrain() {
			holds = append(holds, h)
		}
	}
	return holds
}

// HoldTypes returns the types of the ports that make holds.
func HoldTypes() []string { return slices.Sorted(maps.Keys(holdOf)) }

// whole replaces the ports of each pinned router, on both sides, by the router.
func whole(bindings []Binding, pinned []schedule.Pinned) []Binding {
	routers := map[string]string{}
	for _, p := range pinned {
		if p.Kind == schedule.PinnedRouter {
			for _, port := range slices.Concat(p.Ports, p.Peers) {
				routers[port] = p.Name
			}
		}
	}
	var all []Binding
	seen := map[Binding]bool{}
	for _, b := range bindings {
		if router, is := routers[b.Port]; is && b.Type == "l3gateway" {
			if b.Port = router; seen[b] {
				continue
			}
			seen[b] = true
		}
		all = append(all, b)
	}
	return all
}

// derive returns the holds of the ports, by chassis.
func derive(bindings []Binding) map[string][]Hold {
	sorted := slices.SortedFunc(slices.Values(bindings), func(a, b Binding) int {
		return schedule.CompareNames(a.Port, b.Port)
	})
	all := map[string][]Hold{}
	for _, name := range []string{HoldCompute, HoldGateway, HoldExternal} {
		for _, b := range sorted {
			if holdOf[b.Type] != name || b.Chassis == "" {
				continue
			}
			holds := all[b.Chassis]
			if len(holds) == 0 || holds[len(holds)-1].Name != name {
				holds = append(holds, Hold{Name: name, Derived: true})
				all[b.Chassis] = holds
			}
			h := &holds[len(holds)-1]
			if h.Count++; h.Count <= examples {
				h.Examples = append(h.Examples, b.Port)
			}
		}
	}
	return all
}

// holdName matches the name of a hold, which has at most maxHoldName characters because it is a part of a key.
var holdName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

const maxHoldName = 63

// CheckHoldName returns a refusal of an invalid name of a hold, or nil if it is valid.
func CheckHoldName(name string) *answer.Status {
	switch {
	case len(name) > maxHoldName:
		return invalid("name", finding.Reason{Code: finding.NameTooLong, Count: len(name), Total: maxHoldName})
	case !holdName.MatchString(name):
		return invalid("name", finding.Reason{Code: finding.NameMalformed, Value: strconv.Quote(name)})
	case slices.Contains([]string{HoldCompute, HoldGateway, HoldExternal, HoldMember}, name):
		return invalid("name", finding.Reason{Code: finding.HoldFollows, Value: name})
	}
	return nil
}
