package schedule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// expected returns the chassis that should host the group now: the best candidate that responds or, if none does, the
// best that exists; it is empty if there is none.
func (in *instance) expected(g Group) string {
	names := g.Ranked()
	for _, may := range []func(string) bool{in.responds, in.isHere} {
		if at := slices.IndexFunc(names, may); at >= 0 {
			return names[at]
		}
	}
	return ""
}

// claimant returns the best candidate that responds: it hosts the group now.
func (in *instance) claimant(candidates []Candidate) (c Chassis, found bool) {
	names := Ranked(candidates)
	at := slices.IndexFunc(names, in.responds)
	if at < 0 {
		return c, false
	}
	return in.chassis[in.number[names[at]]], true
}

// Claimant returns the chassis to which OVN binds a group with these candidates: the best that responds. It returns an
// empty name if none responds.
func (s State) Claimant(candidates []Candidate) string {
	for _, name := range Ranked(candidates) {
		if slices.ContainsFunc(s.Chassis, func(c Chassis) bool { return c.Name == name && c.responds() }) {
			return name
		}
	}
	return ""
}

// isStray reports whether these candidates would move a group to a chassis without its network.
func (in *instance) isStray(g Group, candidates []Candidate) bool {
	is, found := in.claimant(g.Candidates)
	then, will := in.claimant(candidates)
	return found && will && g.unconnected(is) == "" && g.unconnected(then) != ""
}

func (in *instance) isMisplaced(g Group) bool {
	should := in.expected(g)
	return should != "" && slices.ContainsFunc(g.Ports, func(p Port) bool {
		return !p.Disabled && in.isHosted(p) && p.Active != should
	})
}

// keepWorking holds groups that work on an invalid chassis while none of their valid candidates responds.
func (in *instance) keepWorking() {
	for _, g := range slices.Concat(in.groups, in.externals) {
		responds := func(c int) bool { return !in.chassis[c].Unresponsive }
		if len(g.order) == 0 || g.held || slices.ContainsFunc(g.order, responds) {
			continue
		}
		on, found := in.claimant(g.Candidates)
		if found && g.unconnected(on) == "" && g.boundTo(on.Name) {
			g.held = true
			why := []finding.Reason{in.invalid(g, on.Name), {Code: finding.NoneResponds}}
			in.find(finding.HostNotAllowed, g.Name, finding.Args{Value: on.Name, Reasons: why})
		}
	}
}

func (in *instance) all() (groups []Group) {
	for _, g := range slices.Concat(in.groups, in.externals) {
		if !g.held {
			groups = append(groups, g.Group)
		}
	}
	return append(groups, in.unplanned...)
}

// findHosting finds ports that are unhosted or misplaced. If no gateway is bound, it makes only one finding.
func (in *instance) findHosting() {
	if in.findOutage() == finding.NoGatewayBound {
		return
	}
	responds := anyChassis(in.chassis, Chassis.responds)
	for _, g := range in.all() {
		in.findMisplaced(g, responds)
	}
}

// findOutage makes a finding of an outage, and returns its code; empty if there is no outage.
func (in *instance) findOutage() finding.Code {
	o := findOutage(in.all(), in.chassis)
	if o == nil {
		return ""
	}
	in.findings = append(in.findings, o.Finding())
	return o.Code
}

func (in *instance) findMisplaced(g Group, silent bool) {
	should := in.expected(g) // a missing candidate is found elsewhere
	expected := finding.Args{Value: should}
	first := slices.IndexFunc(g.Ranked(), in.isHere)
	if first >= 0 && !in.responds(g.Ranked()[first]) {
		expected.Reasons = []finding.Reason{{Code: finding.BestSilent, Name: g.Ranked()[first]}}
	}
	for _, p := range g.Ports {
		switch expected.Other = p.Active; {
		case p.Disabled, p.Active == "" && should == "":
		case p.Unknown:
			in.find(finding.BindingMissing, p.Name, finding.Args{})
		case p.Active == "" && expected.Reasons == nil:
			in.findings = append(in.findings, Unbound(p.Name, should))
		case p.Active == "":
			in.find(finding.GatewayUnbound, p.Name, expected)
		case !in.isHosted(p):
			if silent {
				restart := command.Direct("systemctl", "restart", "ovn-controller")
				in.find(finding.GatewayHostSilent, p.Name, finding.Args{Value: p.Active},
					finding.If(finding.IfItLastsThere, restart))
			}
		case p.Active != should && should != "":
			in.find(finding.GatewayMisplaced, p.Name, expected)
		}
	}
}

// findUnmarked makes one finding of all gateways and external ports of Neutron for which chassis have the networks, and
// none of these has the mark.
func (in *instance) findUnmarked() {
	var networks []string
	later, earlier := false, false
	for _, g := range in.all() {
		connected := func(c Chassis) bool { return g.unconnected(c) == "" }
		if g.Owner == Other || in.onExternalHosts(g) || in.marked(g) || !anyChassis(in.chassis, connected) {
			continue
		}
		networks = append(networks, g.networks()...)
		later, earlier = later || g.Owner == Neutron, earlier || g.Owner == EarlierNeutron
	}
	effect := finding.NeutronGivesNone
	switch {
	case !later && !earlier:
		return
	case !later:
		effect = finding.NeutronsDiffer
	}
	why := finding.Because(effect)
	if in.marked(Group{}) {
		why = append(why, finding.Reason{Code: finding.OnNetworks, Value: JoinNetworks(networks)})
	}
	in.find(finding.NoChassisMarked, "", finding.Args{Reasons: why},
		finding.Do(command.Client("config", "ovn-chassis", "prefer-chassis-as-gw=true")))
}

func (in *instance) findIneligible(g *group) {
	if g.class.mark == noMark && len(g.class.accepts) > 0 && slices.Contains(g.class.accepts, true) {
		in.find(finding.GatewayWithoutCandidate, g.Name, finding.Args{}) // one finding for all gives the reason
		return
	}
	in.find(finding.GatewayWithoutCandidate, g.Name, in.noneEligible(g).Args())
}

func (in *instance) findInvalid(g *group) {
	for _, name := range g.gone {
		code := finding.CandidateInvalid
		if g.boundTo(name) {
			code = finding.HostNotAllowed
		}
		in.find(code, g.Name, finding.Args{Value: name, Reasons: []finding.Reason{in.invalid(g, name)}})
	}
}

// findMissing finds the candidates of gateways without a provider network that are no chassis of this OVN. No plan
// replaces them.
func (in *instance) findMissing() {
	for _, g := range in.unplanned {
		missing := in.missing(g)
		for _, name := range missing {
			var drop []finding.Remedy
			if len(missing) < len(distinct(g.Ranked())) {
				drop = []finding.Remedy{in.dropMissing(g, name)}
			}
			why := in.invalid(&group{Group: g, class: new(class)}, name)
			in.find(finding.CandidateInvalid, g.Name, finding.Args{Value: name, Reasons: []finding.Reason{why}}, drop...)
		}
	}
}

func (in *instance) dropMissing(g Group, name string) finding.Remedy {
	if _, found := in.number[name]; found {
		return finding.Do(g.drop(name))
	}
	return finding.If(finding.UnlessReturns, g.drop(name)).For(name)
}

// missing returns the candidates that are no chassis of this OVN.
func (in *instance) missing(g Group) []string {
	return filter(distinct(g.Ranked()), func(name string) bool { return !in.isHere(name) })
}

// whyNo lists the reasons against the chassis as candidates of a group, except the chassis to leave out.
func (in *instance) whyNo(g *group, leaveOut func(chassis int) bool) []finding.Reason {
	return against(in.chassis, func(c Chassis) finding.Reason {
		if leaveOut(in.number[c.Name]) {
			return finding.Reason{}
		}
		why := orUnavailable(ineligible(c, g.Group, g.class.mark), c)
		if why.IsZero() && !g.class.grows && !g.has(in.number[c.Name]) {
			why.Code = finding.ChassisUnmarked
		}
		return why
	})
}

// noneEligible returns why a group without candidates gets none.
func (in *instance) noneEligible(g *group) finding.Reason {
	return finding.Reason{Code: finding.NoneEligible, Because: in.whyNo(g, g.has)}
}

func (in *instance) unhosted() (all []*group) {
	for _, g := range in.groups {
		switch {
		case len(g.order) > 0 || g.held:
		case len(g.class.schedulable) == 0:
			in.findIneligible(g)
		default:
			all = append(all, g)
		}
	}
	return all
}

// findTooMany finds a group with more valid candidates than Neutron gives a group, for instance because two Neutron
// workers wrote the same group (LP#2139143). The finding has the command that drops the last of them, but not the host.
func (in *instance) findTooMany(g *group) {
	if len(g.order) <= MaxCandidates || g.byDesign() {
		return
	}
	var last []string
	for _, name := range slices.Backward(in.names(g.order)) {
		if !g.boundTo(name) && len(g.order)-len(last) > MaxCandidates {
			last = append(last, name)
		}
	}
	in.find(finding.CandidatesTooMany, g.Name, finding.Args{Count: len(g.order), Total: MaxCandidates, Units: last},
		finding.Do(g.drop(last...)))
}

// drop returns the command that takes candidates out of a group.
func (g Group) drop(candidates ...string) command.Command {
	operation := "ha-chassis-group-remove-chassis"
	if g.Storage == GatewayChassis {
		operation = "lrp-del-gateway-chassis"
	}
	words := []string{"ovn-nbctl"}
	for i, name := range candidates {
		if i > 0 {
			words = append(words, "--")
		}
		words = append(words, operation, g.Name, name)
	}
	return command.Direct(words...)
}

// byDesign reports whether the owner lists all of its chassis in each group, as LXD and Incus do (addChassisGroupEntry
// in network/driver_ovn.go). A group named in Neutron's form is Neutron's, even if its other marks are lost.
func (g Group) byDesign() bool {
	return g.Owner == Other && !strings.HasPrefix(g.Name, "neutron-") && !strings.HasPrefix(g.Name, "lrp-")
}

// Unbound returns the finding about a port that is bound nowhere although its best candidate responds. This happens in
// OVN 23.03 if two candidates claim a port at the same time and one then releases it. The release takes the port from
// the other candidate, whose ovn-controller may not claim it again until it recomputes (measured: tests/dataplane).
func Unbound(port, best string) finding.Finding {
	recompute := command.Direct("ovn-appctl", "-t", "ovn-controller", "inc-engine/recompute")
	remedy := finding.If(finding.IfItLastsThere, recompute)
	return finding.About(finding.GatewayUnbound, port, finding.Args{Value: best}, remedy)
}

// SortFindings sorts findings by severity, the most severe first, then by subject, and drops duplicates.
func SortFindings(findings []finding.Finding) []finding.Finding {
	compare := func(a, b finding.Finding) int {
		order := cmp.Or(
			cmp.Compare(b.Severity, a.Severity), CompareNames(a.Subject.Name, b.Subject.Name), cmp.Compare(a.Code, b.Code),
			CompareNames(a.Args.Value, b.Args.Value), cmp.Compare(a.Args.Detail.String(), b.Args.Detail.String()))
		if order != 0 {
			return order
		}
		return cmp.Compare(finding.Texts(a.Args.Reasons), finding.Texts(b.Args.Reasons))
	}
	slices.SortStableFunc(findings, compare)
	return slices.CompactFunc(findings, func(a, b finding.Finding) bool { return compare(a, b) == 0 })
}

// interrupts reports whether a group works now and one of its ports would move with these candidates, best first.
// Candidates ranked before the one that the port is bound to count as dead. If no port is bound to a candidate, the
// best candidate that may host the group counts as the host, unless only other groups are bound.
func (in *instance) interrupts(g Group, after []string) bool {
	before, may, bound := g.Ranked(), in.isHere, false
	moves := func(host int) bool {
		next := slices.IndexFunc(after, func(name string) bool { return may(name) && !slices.Contains(before[:host], name) })
		return next < 0 || after[next] != before[host]
	}
	for _, p := range g.Ports {
		if host := slices.Index(before, p.Active); p.Active != "" && host >= 0 {
			if moves(host) {
				return true
			}
			bound = true
		}
	}
	if bound || in.bound && !g.bound() {
		return false
	}
	k := in.classOf(g)
	may = func(name string) bool { return in.isHere(name) && k.eligible[in.number[name]] }
	host := slices.IndexFunc(before, may)
	return host >= 0 && moves(host)
}
