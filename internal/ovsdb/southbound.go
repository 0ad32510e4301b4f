package ovsdb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Southbound is the part of SB about chassis and about where gateways are, at one moment.
type Southbound struct {
	// Config is nb_cfg of SB_Global: the number that ovn-controllers should reach. ovn-northd copies it from NB_Global.
	Config int64
	// Unfollowed reports whether ovn-controllers are not to write the nb_cfg that they follow
	// (enable_chassis_nb_cfg_update of SB_Global in ovn-sb(5), which OVN 23.03 does not have). Then nothing shows which
	// of them respond.
	Unfollowed bool
	Chassis    []ChassisRow
	// Private are the names in Chassis_Private.
	Private []string
	// Redirects has the chassis of each router port's gateway, by the name of its `cr-` port. An unbound port has an
	// empty chassis.
	Redirects map[string]string
	// Externals has the chassis of external ports, by their names.
	Externals map[string]string
	// Pinned has the chassis of ports that one chassis hosts by configuration: types l3gateway, l2gateway and vtep.
	Pinned    map[string]string
	Malformed []Malformed
}

// ChassisRow is a row of Chassis, and its row of Chassis_Private if there is one. Hostname is for people: a chassis
// may write any text (ovn-controller's role).
type ChassisRow struct {
	UUID, Name, Hostname string
	// Config is other_config, in which ovn-controller describes its machine, and external_ids for the keys that are not
	// there: before OVN 20.06 it used these, while ovn-ic already used other_config.
	Config map[string]string
	// Known reports whether Chassis_Private has a row for it. Follows is the last nb_cfg that its ovn-controller saw, At
	// the time when it did. An ovn-controller before OVN 20.09 has no such row: it writes nb_cfg of Chassis, and no time.
	Known   bool
	Follows int64
	At      time.Time
}

// Responds reports whether the chassis's ovn-controller has reached nb_cfg. None is known to lag if none was asked, or
// if they don't write the nb_cfg that they follow. A live ovn-controller is never ahead: it writes the nb_cfg that it
// has read, even a smaller one, but not 0 (store_nb_cfg in controller/ovn-controller.c). If its number is larger, an
// older database was restored, and the ovn-controller has not responded since.
func (s Southbound) Responds(x ChassisRow) bool {
	return s.Unfollowed || s.Config == 0 || x.Follows == s.Config
}

// Host returns the chassis to which a router port's gateway or an external port is bound. known reports whether
// ovn-northd has made the row of the binding.
func (s Southbound) Host(port string) (chassis string, known bool) {
	if chassis, known = s.Externals[port]; known {
		return chassis, true
	}
	chassis, known = s.Redirects["cr-"+port]
	return chassis, known
}

// Remote reports whether the chassis belongs to another OVN (ovn-ic(8)).
func (x ChassisRow) Remote() bool { return x.Config["is-remote"] == "true" }

// VTEP reports whether ovn-controller-vtep has made the row. It marks the row from OVN 21.12 on; before that the row
// describes no machine. It never makes a row of Chassis_Private (create_chassis_rec in controller-vtep/gateway.c).
func (x ChassisRow) VTEP() bool {
	return x.Config["is-vtep"] == "true" || len(x.Config) == 0 && !x.Known
}

// Asked reports whether the chassis has an ovn-controller that follows nb_cfg of this OVN.
func (x ChassisRow) Asked() bool { return !x.Remote() && !x.VTEP() }

// Southbound reads SB. It works with every schema from OVN 20.12 on.
func (g *Gateways) Southbound(ctx context.Context) (Southbound, error) {
	ofType := func(kind string) query {
		return query{"Port_Binding", []string{"logical_port", "chassis"}, []ovsdb.Condition{equals("type", kind)}}
	}
	answers, err := g.read(ctx, g.sb,
		query{table: "Chassis", columns: []string{"name", "hostname", "other_config", externalIDs, configColumn}},
		query{table: "Chassis_Private", columns: []string{"name", configColumn, "nb_cfg_timestamp"}},
		ofType("chassisredirect"), ofType("external"),
		query{table: ovndb.SB.GlobalTable(), columns: []string{configColumn, "options"}},
		ofType("l3gateway"), ofType("l2gateway"), ofType("vtep"),
	)
	if err != nil {
		return Southbound{}, fmt.Errorf("cannot look for chassis in SB: %w", err)
	}
	private, names, s := map[string]row{}, map[string]string{}, Southbound{}
	for _, r := range answers[1] {
		if name := r.text("name"); !unnamed(&s.Malformed, "Chassis_Private", r, name) {
			private[name] = r
		}
	}
	s.Private = slices.Sorted(maps.Keys(private))
	for _, r := range answers[0] {
		name := r.text("name")
		if unnamed(&s.Malformed, "Chassis", r, name) {
			continue
		}
		x := ChassisRow{
			UUID: r.uuid(), Name: name, Hostname: foreign.Name(r.text("hostname")),
			Config: r.pairs(externalIDs), Follows: r.number(configColumn),
		}
		maps.Copy(x.Config, r.pairs("other_config"))
		if p, known := private[x.Name]; known {
			x.Known, x.Follows, x.At = true, p.number(configColumn), time.UnixMilli(p.number("nb_cfg_timestamp"))
		}
		names[r.uuid()] = x.Name
		s.Chassis = append(s.Chassis, x)
	}
	for _, r := range answers[4] {
		s.Config, s.Unfollowed = r.number(configColumn), r.pairs("options")["enable_chassis_nb_cfg_update"] == "false"
	}
	s.Redirects, s.Externals = bound(answers[2], names), bound(answers[3], names)
	s.Pinned = bound(slices.Concat(answers[5:]...), names)
	return s, nil
}

// bound returns the name of each port's chassis.
func bound(rows []row, names map[string]string) map[string]string {
	all := map[string]string{}
	for _, r := range rows {
		all[r.text("logical_port")] = names[r.reference("chassis")]
	}
	return all
}
