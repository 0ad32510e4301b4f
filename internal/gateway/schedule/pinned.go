package schedule

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// The kinds. Each is pinned by its own option (ovn-nb(5)).
const (
	PinnedRouter PinKind = "router"    // options:chassis of Logical_Router
	PinnedL2     PinKind = "l2gateway" // options:l2gateway-chassis of Logical_Switch_Port
	PinnedVTEP   PinKind = "vtep"      // options:vtep-physical-switch of Logical_Switch_Port
)

// PinnedTo returns the gateways that are pinned to a chassis.
func (s State) PinnedTo(chassis string) []Pinned {
	return filter(s.Pinned, func(p Pinned) bool { return p.Chassis == chassis })
}

func (p Pinned) option() (table, option string) {
	switch p.Kind {
	case PinnedRouter:
		return "Logical_Router", "chassis"
	case PinnedL2:
		return "Logical_Switch_Port", "l2gateway-chassis"
	}
	return "Logical_Switch_Port", "vtep-physical-switch"
}

// plain matches a value that ovn-nbctl takes without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// moveTo returns the command that pins the gateway to a chassis. It also makes the chassis the best member of the
// gateway's group, or Neutron would later pin the gateway to another one.
func (p Pinned) moveTo(chassis string) finding.Remedy {
	table, option := p.option()
	words := append([]string{"ovn-nbctl"}, p.regroup(chassis)...)
	if !plain.MatchString(chassis) {
		chassis = fmt.Sprintf("%q", chassis)
	}
	return finding.Do(command.Direct(append(words, "set", table, p.Record, "options:"+option+"="+chassis)...))
}

// regroup returns the words that make a chassis the best member of the group, and the chassis that the gateway is
// pinned to the last.
func (p Pinned) regroup(chassis string) (words []string) {
	if p.Group == "" {
		return nil
	}
	names := distinct(Ranked(p.Members))
	order := append([]string{chassis}, behind(without(names, chassis), p.Chassis)...)
	order = order[:min(len(order), max(len(names), MaxCandidates))]
	for _, r := range changed(Group{Candidates: p.Members}, prioritized(p.Members, order), nil).Rows {
		if r.After == nil {
			words = append(words, "ha-chassis-group-remove-chassis", p.Group, r.Chassis, "--")
		} else {
			words = append(words, "ha-chassis-group-add-chassis", p.Group, r.Chassis, strconv.Itoa(*r.After), "--")
		}
	}
	return words
}

// unpin returns the command that leaves the router's gateways to their candidates.
func (p Pinned) unpin() finding.Remedy {
	table, option := p.option()
	return finding.Do(command.Direct("ovn-nbctl", "remove", table, p.Record, "options", option))
}

// Moves returns findings with the commands that move the gateways pinned to a chassis to others that respond, are not
// cordoned and have their networks. It prefers members of the gateway's group, then gateway chassis, and of these the
// ones with the fewest pinned gateways.
func (s State) Moves(chassis string) (all []finding.Finding) {
	load := map[string]int{}
	for _, p := range s.Pinned {
		load[p.Chassis]++
	}
	moving := s.PinnedTo(chassis)
	slices.SortFunc(moving, func(a, b Pinned) int { return CompareNames(a.Name, b.Name) })
	for _, p := range moving {
		_, option := p.option()
		by := finding.Reason{Code: finding.PinnedBy, Value: option}
		stays := finding.About(finding.GatewayPinned, p.Name, finding.Args{Value: cmp.Or(chassis, "nothing")})
		switch to := s.hostFor(p, load); {
		case p.Mistaken:
			stays.Remedies = []finding.Remedy{p.unpin()}
		case p.OfNode:
			stays.Remedies = []finding.Remedy{finding.ByHand(finding.RemoveNodeInCMS)}
		case to != "":
			load[to]++
			stays.Remedies = []finding.Remedy{p.moveTo(to)}
		case p.Kind == PinnedVTEP:
			by.Code = finding.PinnedVTEP
		default:
			by.Code, by.Because = finding.PinnedAlone, s.whyNoHost(p)
		}
		stays.Args.Reasons = []finding.Reason{by}
		all = append(all, stays)
	}
	return all
}

// hostFor returns the chassis to pin a gateway to. If the gateway is pinned to a chassis by another name, such as the
// host's, hostFor returns the name of that chassis; otherwise the best other one, or an empty name if no chassis fits.
func (s State) hostFor(p Pinned, load map[string]int) string {
	if is := s.Misnamed[p.Chassis]; is.Name != "" {
		return is.Name
	}
	var open []Chassis
	for _, c := range s.Chassis {
		if p.Kind != PinnedVTEP && c.Name != p.Chassis && p.unfit(c).IsZero() {
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		return ""
	}
	members := chassisOf(p.Members)
	is := func(c Chassis) int { return btoi(slices.Contains(members, c.Name)) }
	return slices.MinFunc(open, func(a, b Chassis) int {
		return cmp.Or(is(b)-is(a), btoi(b.Gateway)-btoi(a.Gateway), load[a.Name]-load[b.Name], CompareNames(a.Name, b.Name))
	}).Name
}

func (s State) whyNoHost(p Pinned) []finding.Reason {
	return against(s.Chassis, func(c Chassis) finding.Reason {
		if c.Name == p.Chassis {
			return finding.Reason{}
		}
		return p.unfit(c)
	})
}

func (p Pinned) unfit(c Chassis) finding.Reason {
	needs := noMark
	if p.Group != "" {
		needs = gatewayMark // sync_ha_chassis_group_router in utils.py
	}
	g := needing(p.Networks...)
	g.Zones = p.Zones
	return orUnavailable(ineligible(c, g, needs), c)
}

func (s State) findPinned() (all []finding.Finding) {
	moves := map[string][]finding.Finding{}
	unhosted := func(p Pinned, why finding.Reason) {
		if moves[p.Chassis] == nil {
			moves[p.Chassis] = s.Moves(p.Chassis)
		}
		at := slices.IndexFunc(moves[p.Chassis], func(f finding.Finding) bool { return f.Subject.Name == p.Name })
		args := why.Args()
		args.Value = cmp.Or(p.Chassis, "nothing")
		all = append(all, finding.About(finding.PinnedUnhosted, p.Name, args, moves[p.Chassis][at].Remedies...))
	}
	for _, p := range s.Pinned {
		all = append(all, p.ignored()...)
		if p.Disabled {
			continue
		}
		at := slices.IndexFunc(s.Chassis, func(c Chassis) bool { return c.Name == p.Chassis })
		switch {
		case p.Chassis == "":
			unhosted(p, finding.Reason{})
		case at < 0:
			why := s.Misnamed[p.Chassis]
			if why.IsZero() {
				why.Code = finding.PinnedToNone
			}
			unhosted(p, why)
		case p.Kind != PinnedVTEP && s.Chassis[at].alien() != "":
			unhosted(p, finding.Reason{Code: s.Chassis[at].alien()})
		case s.Chassis[at].Unresponsive:
			unhosted(p, finding.Reason{Code: finding.PinnedToSilent})
		case s.Chassis[at].lacks(p.Networks) != "":
			unhosted(p, ineligible(s.Chassis[at], needing(p.Networks...), noMark))
		case len(p.Ports) > 0 && p.Active == "":
			all = append(all, Unbound(p.Name, p.Chassis))
		case len(p.Ports) > 0 && p.Active != p.Chassis:
			all = append(all, finding.About(finding.GatewayMisplaced, p.Name, finding.Args{Value: p.Chassis, Other: p.Active}))
		case p.best() != p.Chassis:
			all = append(all, finding.About(finding.PinnedAgainstGroup, p.Name,
				finding.Args{Value: p.Chassis, Other: p.best()}, p.moveTo(p.Chassis)))
		}
	}
	return all
}

// ignored finds the candidates that OVN ignores because the router is pinned.
func (p Pinned) ignored() (all []finding.Finding) {
	for _, port := range p.Candidates {
		remedy := p.unpin()
		if !p.Mistaken {
			remedy = finding.Do(command.Direct("ovn-nbctl", "clear", "Logical_Router_Port", port,
				"gateway_chassis", "ha_chassis_group"))
		}
		all = append(all, finding.About(finding.CandidatesIgnored, port, finding.Args{Value: p.Name}, remedy))
	}
	return all
}

// best returns the best member of the gateway's group; without members it is the chassis that the gateway is pinned to.
func (p Pinned) best() string {
	if len(p.Members) == 0 {
		return p.Chassis
	}
	return ranked(p.Members)[0].Chassis
}
