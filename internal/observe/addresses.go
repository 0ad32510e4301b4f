package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Addresses are a unit's addresses, and its machine's host names.
type Addresses struct {
	// Own is the unit's address on the peer binding. Better is the address that a new unit would have in its place,
	// Member the address in the files of the unit's databases; each is zero if there is none ([juju.Network.Choose]).
	Own, Better, Member netip.Addr
	// All are the addresses of all bindings for which Juju was asked. Primary is, for each binding, the address to which
	// this unit sends others.
	All, Primary []netip.Addr
	Hosts        []string
}

// Addresses asks Juju for the addresses of the peer binding and, if thorough is set, of the bindings for clients. If
// keep is set and the unit's servers are at an address of the machine, it does not ask Juju.
func (s *Observer) Addresses(
	ctx context.Context, tools *juju.Tools, servers map[ovndb.Database]ServerState, thorough, keep bool,
) (a Addresses, err error) {
	host, err := os.Hostname()
	if err != nil {
		return a, fmt.Errorf("cannot find this machine's name: %w", err)
	}
	a.Hosts = []string{host}
	used, machine := s.usedAddresses(ctx, servers), s.machineAddresses(ctx)
	if len(used) > 0 {
		a.Member = used[0]
	}
	if keep && len(used) > 0 && slices.Contains(machine, used[0]) {
		a.Own, a.Primary, a.All = used[0], used[:1:1], used[:1:1]
		return a, nil
	}
	endpoints := []string{relation.Peer}
	if thorough {
		endpoints = append(endpoints, relation.OVSDB, relation.CMS)
	}
	for _, endpoint := range endpoints {
		network, err := tools.NetworkGet(ctx, endpoint, "")
		if err != nil {
			return a, err
		}
		var primary netip.Addr
		if endpoint == relation.Peer {
			a.Own, a.Better = network.Choose(network.Bind, used, machine)
			primary = a.Own
		} else {
			primary, _ = network.Choose(network.Bind, []netip.Addr{a.Own}, nil)
		}
		if primary.IsValid() {
			a.Primary = union(a.Primary, []netip.Addr{primary})
		}
		a.All = union(a.All, network.Bind, network.Ingress)
		a.Hosts = union(a.Hosts, network.Hostnames)
	}
	a.All = union(a.All, a.Primary)
	return a, nil
}

// usedAddresses returns the addresses at which this unit's servers are members, or join: from their status, or
// otherwise from their files. They can't be changed.
func (s *Observer) usedAddresses(ctx context.Context, servers map[ovndb.Database]ServerState) (all []netip.Addr) {
	for _, db := range ovndb.Databases() {
		l := servers[db]
		raftAddress := l.Status.Address
		switch l.Condition {
		case ovndb.Absent, ovndb.Left, ovndb.Standalone:
			continue
		case ovndb.Serving:
		default:
			var err error
			if raftAddress, err = s.Files.Address(ctx, db); err != nil {
				s.Log.WarnContext(ctx, "cannot read the address in the database file", "database", db.Short(), "error", err)
			}
		}
		if address, err := netip.ParseAddr(ovndb.HostOf(raftAddress)); err == nil {
			all = union(all, []netip.Addr{address})
		}
	}
	return all
}

func (s *Observer) machineAddresses(ctx context.Context) (all []netip.Addr) {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		s.Log.WarnContext(ctx, "cannot list this machine's addresses; using those that Juju knows", "error", err)
	}
	for _, each := range interfaces {
		if prefix, err := netip.ParsePrefix(each.String()); err == nil {
			all = append(all, prefix.Addr())
		}
	}
	return all
}

// union returns the items of all parts, each once, in the order of their first occurrence.
func union[T comparable](parts ...[]T) (all []T) {
	for _, part := range parts {
		for _, item := range part {
			if !slices.Contains(all, item) {
				all = append(all, item)
			}
		}
	}
	return all
}

// Client is a relation to units that use the databases.
type Client struct {
	// ID is the ID of the relation.
	ID string
	// Addresses are the addresses from which the units of a CMS connect.
	Addresses []netip.Addr
}

// RelatedClients asks Juju for the relations to clients.
func (s *Observer) RelatedClients(ctx context.Context, tools *juju.Tools) (all []Client, err error) {
	for _, endpoint := range []string{relation.OVSDB, relation.CMS} {
		ids, err := tools.RelationIDs(ctx, endpoint)
		if err != nil {
			return nil, err
		}
		for _, id := range s.Env.Unbroken(ids) {
			c := Client{ID: id}
			if endpoint == relation.CMS {
				if c.Addresses, err = s.cmsAddresses(ctx, tools, id); err != nil {
					return nil, err
				}
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// cmsAddresses returns the addresses from which the units of a CMS connect. Invalid data of one unit doesn't affect
// the others.
func (s *Observer) cmsAddresses(ctx context.Context, tools *juju.Tools, id string) (all []netip.Addr, err error) {
	units, err := tools.RelationUnits(ctx, id)
	if err != nil && !errors.Is(err, juju.ErrNotFound) {
		return nil, err
	}
	for _, unit := range units {
		databag, err := tools.RelationGet(ctx, id, unit)
		if err != nil && !errors.Is(err, juju.ErrNotFound) {
			return nil, err
		}
		address, found, err := relation.ClientAddress(databag)
		if err != nil {
			s.Log.WarnContext(ctx, "a client publishes no address", "unit", unit, "error", err)
		}
		if found && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all, nil
}
