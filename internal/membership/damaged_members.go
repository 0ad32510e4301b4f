package membership

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// PublishDamage records for the other units whether this unit's server has lost entries; lost describes them, and is
// empty if there are none. It writes only if that changes the record (rule R17), through another member if its own
// server can't. It removes the record only if ovsdb-tool finds no damage in the file.
func (s *Changer) PublishDamage(ctx context.Context, l observe.ServerState, lost string) error {
	if !l.Member() || !l.Status.HasLeader() {
		return nil
	}
	endpoints := [][]string{{s.socket(l.Database)}}
	for _, address := range observe.OtherAddresses(l.Status) {
		endpoints = append(endpoints, ovsdb.Endpoints(l.Database, address))
	}
	key := observe.DamagedPrefix + string(l.Status.Server)
	var err error
	for _, e := range endpoints {
		err = s.withGlobal(ctx, l.Database, e, func(limited context.Context, g *ovsdb.Global, ids map[string]string) error {
			switch _, told := ids[key]; {
			case told == (lost != ""):
				return nil
			case lost != "":
				text := fmt.Sprintf("%s, %s: %s", s.Env.Unit, s.Now().UTC().Format(time.RFC3339), lost)
				return g.Put(limited, map[string]string{key: text})
			}
			if damage, err := s.Files.Damaged(ctx, l.Database); err != nil || damage != "" {
				return err
			}
			return g.Drop(limited, key)
		})
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot record for the other units how this unit's server of %s is: %w", l.Database, err)
}
