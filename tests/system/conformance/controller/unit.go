package controller

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/juju/juju/rpc/params"
)

var unitMethods = map[string]method{
	"Uniter.Life": each(func(s session, tag string) (any, error) { return map[string]string{"life": s.life(tag)}, nil }),
	"Uniter.Refresh": each(func(s session, _ string) (any, error) {
		return map[string]any{"life": s.unit.Life, "resolved": s.unit.Resolved}, nil
	}),
	"Uniter.UnitStatus":           each(func(s session, _ string) (any, error) { return s.unit.Workload, nil }),
	"Uniter.ApplicationStatus":    each(applicationStatus),
	"Uniter.SetUnitStatus":        plain(setStatus(func(s session, r params.StatusResult) { s.unit.Workload = r })),
	"Uniter.SetAgentStatus":       plain(setStatus(func(s session, r params.StatusResult) { s.unit.Agent = r })),
	"Uniter.SetApplicationStatus": plain(setStatus(func(s session, r params.StatusResult) { s.state.Status = r })),
	"Uniter.ClearResolved": each(func(s session, _ string) (any, error) {
		s.unit.Resolved = params.ResolvedNone
		s.notify()
		return nil, nil
	}),
	"Uniter.EnsureDead": each(func(s session, _ string) (any, error) {
		s.state.remove(s.unit.Name)
		s.notify()
		return nil, nil
	}),
	"Uniter.Destroy": each(func(s session, _ string) (any, error) {
		s.unit.Life = "dying"
		s.notify()
		return nil, nil
	}),
	"Uniter.GetPrincipal":                  always(params.StringBoolResult{}),
	"Uniter.HasSubordinates":               always(params.BoolResult{}),
	"Uniter.AssignedMachine":               each(func(s session, _ string) (any, error) { return params.StringResult{Result: machineTag(s.unit)}, nil }),
	"Uniter.AvailabilityZone":              always(params.StringResult{}),
	"Uniter.PrivateAddress":                each(func(s session, _ string) (any, error) { return params.StringResult{Result: s.unit.Addresses[0]}, nil }),
	"Uniter.PublicAddress":                 each(func(s session, _ string) (any, error) { return params.StringResult{Result: s.unit.Addresses[0]}, nil }),
	"Uniter.NetworkInfo":                   plain(networkInfo),
	"Uniter.UnitStorageAttachments":        always(struct{}{}),
	"Uniter.StorageAttachmentLife":         plain(func(session, any) (any, error) { return results[int](nil, nil), nil }),
	"Uniter.DestroyUnitStorageAttachments": always(params.ErrorResult{}),
	"Uniter.DestroyAllSubordinates":        always(params.ErrorResult{}),
	"Uniter.GetMeterStatus":                always(params.MeterStatusResult{Code: "AMBER", Info: "not set"}),
	"Uniter.SetWorkloadVersion": plain(func(s session, args params.EntityWorkloadVersions) (any, error) {
		return results(args.Entities, func(one params.EntityWorkloadVersion) (any, error) {
			s.state.Version = one.WorkloadVersion
			return nil, nil
		}), nil
	}),
	"Uniter.UpgradeSeriesUnitStatus":           always(params.ErrorResult{Error: toParams(errNotFound)}),
	"Uniter.OpenedMachinePortRangesByEndpoint": each(openedPorts),
	"Uniter.State": each(func(s session, _ string) (any,
		error,
	) {
		return s.unit.Kept, nil
	}), // as params.UnitStateResult
	"Uniter.SetState":                      plain(setUnitState),
	"Uniter.RequestReboot":                 always(params.ErrorResult{}),
	"ResourcesHookContext.GetResourceInfo": plain(func(session, any) (any, error) { return struct{}{}, nil }),
	"PayloadsHookContext.List":             plain(func(session, any) (any, error) { return struct{}{}, nil }),
}

func (s session) life(tag string) string {
	if unitName(tag) == "" && s.state.Dying {
		return "dying"
	}
	if unitName(tag) == "" {
		return "alive"
	}
	return s.unit.Life
}

func setStatus(set func(session, params.StatusResult)) func(session, params.SetStatus) (any, error) {
	return func(s session, args params.SetStatus) (any, error) {
		answer := results(args.Entities, func(one params.EntityStatusArgs) (any, error) {
			set(s, now(one.Status, one.Info))
			return nil, nil
		})
		s.notify()
		return answer, nil
	}
}

// visible returns the unit's status in `juju status` and goal-state: a failed hook hides the charm's.
func (u *Unit) visible() params.StatusResult {
	if u.Agent.Status == "error" {
		return u.Agent
	}
	return u.Workload
}

func applicationStatus(s session, _ string) (any, error) {
	if s.state.Leader != s.unit.Name {
		return nil, fault{"", fmt.Sprintf("%q is not leader of %q", s.unit.Name, s.state.App)}
	}
	units := map[string]params.StatusResult{}
	for _, u := range s.state.Units {
		units[u.Name] = u.Workload
	}
	return params.ApplicationStatusResult{Application: s.state.Status, Units: units}, nil
}

func networkInfo(s session, args params.NetworkInfoParams) (any, error) {
	known := []string{"", "juju-info"}
	meta := s.charm.Meta()
	for name := range meta.CombinedRelations() {
		known = append(known, name)
	}
	for name := range meta.ExtraBindings {
		known = append(known, name)
	}
	all := map[string]params.NetworkInfoResult{}
	for _, name := range args.Endpoints {
		if !slices.Contains(known, name) {
			err := fault{params.CodeNotValid, fmt.Sprintf("undefined for unit charm: endpoint %q not valid", name)}
			all[name] = params.NetworkInfoResult{Error: toParams(err)}
			continue
		}
		info := params.NetworkInfo{InterfaceName: "eth0"}
		for _, address := range s.unit.Addresses {
			info.Addresses = append(info.Addresses, params.InterfaceAddress{Address: address, CIDR: cidr(address)})
		}
		all[name] = params.NetworkInfoResult{
			Info: []params.NetworkInfo{info}, EgressSubnets: subnets(s.unit.Addresses), IngressAddresses: s.unit.Addresses,
		}
	}
	return params.NetworkInfoResults{Results: all}, nil
}

func cidr(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	bits := 24
	if ip.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(ip, bits).Masked().String()
}

func subnets(addresses []string) (all []string) {
	for _, address := range addresses {
		if ip, err := netip.ParseAddr(address); err == nil {
			all = append(all, netip.PrefixFrom(ip, ip.BitLen()).String())
		}
	}
	return all
}

func openedPorts(s session, _ string) (any, error) {
	ranges := []params.OpenUnitPortRangesByEndpoint{}
	if len(s.unit.Ports) > 0 {
		ranges = append(ranges, params.OpenUnitPortRangesByEndpoint{PortRanges: s.unit.Ports})
	}
	return params.OpenPortRangesByEndpointResult{
		UnitPortRanges: map[string][]params.OpenUnitPortRangesByEndpoint{unitTag(s.unit.Name): ranges},
	}, nil
}

func setUnitState(s session, args params.SetUnitStateArgs) (any, error) {
	return results(args.Args, func(one params.SetUnitStateArg) (any, error) {
		s.unit.keep(one)
		return nil, nil
	}), nil
}

// keep stores the settings of a unit's state.
func (u *Unit) keep(one params.SetUnitStateArg) {
	kept := &u.Kept
	kept.CharmState = cmp.Or(one.CharmState, kept.CharmState)
	kept.UniterState = cmp.Or(one.UniterState, kept.UniterState)
	kept.RelationState = cmp.Or(one.RelationState, kept.RelationState)
	kept.StorageState = cmp.Or(one.StorageState, kept.StorageState)
	kept.SecretState = cmp.Or(one.SecretState, kept.SecretState)
	kept.MeterStatusState = cmp.Or(one.MeterStatusState, kept.MeterStatusState)
}
