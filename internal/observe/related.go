package observe

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Client is a relation to units that use the databases.
type Client struct {
	// ID is the relation's.
	ID string
	// Addresses are those from which the units of a CMS connect.
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

// cmsAddresses are those from which the units of a CMS connect. Invalid data of one of them
// doesn't affect the others.
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
