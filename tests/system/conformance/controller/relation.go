package controller

import (
	"fmt"
	"maps"
	"strings"

	"github.com/juju/juju/core/life"
	"github.com/juju/juju/rpc/params"
)

var relationMethods = map[string]method{
	"Uniter.Relation": eachRelation(func(s session, r *Relation, _ params.RelationUnit) (any,
		error,
	) {
		return s.describe(r), nil
	}),
	"Uniter.RelationById":    plain(relationByID),
	"Uniter.RelationsStatus": each(relationsStatus),
	"Uniter.SetRelationStatus": plain(func(s session, args params.RelationStatusArgs) (any, error) {
		return results(args.Args, func(params.RelationStatusArg) (any, error) { return nil, nil }), nil
	}),
	"Uniter.EnterScope":                   eachRelation(enterScope),
	"Uniter.LeaveScope":                   eachRelation(leaveScope),
	"Uniter.ReadSettings":                 eachRelation(readSettings),
	"Uniter.ReadLocalApplicationSettings": plain(readLocalApplication),
	"Uniter.ReadRemoteSettings":           plain(readRemoteSettings),
}

func (s session) relationByTag(tag string) (*Relation, error) {
	key := strings.NewReplacer("#", " ", ".", ":").Replace(strings.TrimPrefix(tag, "relation-"))
	for _, r := range s.state.Relations {
		if r.key(s.state.App) == key {
			return r, nil
		}
	}
	return nil, errPermission // Juju's answer to an agent about a relation that doesn't exist
}

func (s session) describe(r *Relation) params.RelationResult {
	e := r.Endpoint
	return params.RelationResult{
		Life: life.Value(r.Life), Id: r.ID, Key: r.key(s.state.App), OtherApplication: r.other(s.state.App),
		Endpoint: params.Endpoint{ApplicationName: s.state.App, Relation: params.CharmRelation{
			Name: e.Name, Role: string(e.Role), Interface: e.Interface, Optional: e.Optional, Limit: e.Limit, Scope: string(e.Scope),
		}},
	}
}

// eachRelation returns a method about units in relations.
func eachRelation(f func(s session, r *Relation, one params.RelationUnit) (any, error)) method {
	return plain(func(s session, args params.RelationUnits) (any, error) {
		return results(args.RelationUnits, func(one params.RelationUnit) (any, error) {
			r, err := s.relationByTag(one.Relation)
			if err != nil {
				return nil, err
			}
			return f(s, r, one)
		}), nil
	})
}

func relationByID(s session, args params.RelationIds) (any, error) {
	return results(args.RelationIds, func(id int) (any, error) {
		r := s.state.relation(id)
		if r == nil {
			return nil, errPermission
		}
		return s.describe(r), nil
	}), nil
}

func relationsStatus(s session, _ string) (any, error) {
	all := []params.RelationUnitStatus{}
	for _, r := range s.state.Relations {
		bag := r.Units[s.unit.Name]
		tag := "relation-" + strings.NewReplacer(" ", "#", ":", ".").Replace(r.key(s.state.App))
		all = append(all, params.RelationUnitStatus{RelationTag: tag, InScope: bag != nil && bag.InScope})
	}
	return params.RelationUnitStatusResult{RelationResults: all}, nil
}

func enterScope(s session, r *Relation, _ params.RelationUnit) (any, error) {
	bag := r.Units[s.unit.Name]
	if bag == nil {
		bag = newBag()
		r.Units[s.unit.Name] = bag
	}
	if bag.InScope {
		return nil, nil
	}
	if r.Life != "alive" || s.unit.Life != "alive" {
		return nil, fault{params.CodeCannotEnterScope, "cannot enter scope: unit or relation is not alive"}
	}
	bag.InScope = true
	bag.write(addressSettings(s.unit.Addresses))
	s.notify()
	return nil, nil
}

// addressSettings returns what Juju itself publishes.
func addressSettings(addresses []string) map[string]string {
	return map[string]string{
		"private-address": addresses[0], "ingress-address": addresses[0], "egress-subnets": strings.Join(subnets(addresses), ","),
	}
}

func leaveScope(s session, r *Relation, _ params.RelationUnit) (any, error) {
	if bag := r.Units[s.unit.Name]; bag != nil {
		bag.InScope = false
	}
	s.state.dropRelation(r)
	s.notify()
	return nil, nil
}

func settings(bag *Bag) params.SettingsResult {
	return params.SettingsResult{Settings: maps.Clone(bag.Settings)}
}

func readSettings(s session, r *Relation, one params.RelationUnit) (any, error) {
	if bag := r.Units[s.unit.Name]; bag != nil && unitName(one.Unit) == s.unit.Name {
		return settings(bag), nil
	}
	return nil, errPermission
}

func readLocalApplication(s session, one params.RelationUnit) (any, error) {
	r, err := s.relationByTag(one.Relation)
	if err != nil {
		return nil, err
	}
	if !r.peer() && s.state.Leader != s.unit.Name {
		return nil, errPermission
	}
	return settings(r.App), nil
}

// readRemoteSettings is Juju's: an application must be on the other side, a unit on either; departed data remain.
func readRemoteSettings(s session, args params.RelationUnitPairs) (any, error) {
	return results(args.RelationUnitPairs, func(one params.RelationUnitPair) (any, error) {
		r, err := s.relationByTag(one.Relation)
		if err != nil {
			return nil, err
		}
		unit := unitName(one.RemoteUnit)
		if app, is := strings.CutPrefix(one.RemoteUnit, "application-"); is {
			switch {
			case app != r.other(s.state.App):
				return nil, errPermission
			case r.peer():
				return settings(r.App), nil
			}
			return settings(r.RemoteApp), nil
		}
		app, _, _ := strings.Cut(unit, "/")
		if unit == s.unit.Name || app != s.state.App && app != r.Remote {
			return nil, errPermission
		}
		bag := r.Units[unit]
		if bag == nil {
			bag = r.RemoteUnits[unit]
		}
		if bag == nil {
			return nil, fault{params.CodeNotFound, fmt.Sprintf("cannot read settings for unit %q in relation %q: unit %q: settings not found",
				unit, r.key(s.state.App), unit)}
		}
		return settings(bag), nil
	}), nil
}
