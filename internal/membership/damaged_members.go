package membership

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// DamagedPrefix, followed by a full server ID, is the key in external_ids of
// NB_Global and SB_Global that says of a member that it has lost entries of its log:
// it stands there from when its own unit has found that it can't be mended until it
// was, so that it is down for everybody (rule R0). No other way reaches all who judge.
const DamagedPrefix = "ovn-central:unhealthy/"

func DamagedServers(ids map[string]string) (lost []raft.ID) {
	for key := range ids {
		if id, found := strings.CutPrefix(key, DamagedPrefix); found {
			lost = append(lost, raft.ID(id))
		}
	}
	return lost
}

// unhealthy reads from this unit's own server which members have lost entries. Where
// that can't be read, what is seen of the members has to do; who has the lock reads it
// there, or does nothing.
func (s *Observer) unhealthy(ctx context.Context, d ovndb.Database) []raft.ID {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	global, err := s.Dialer.Global(ctx, d, "unix:"+s.Control.Paths.Socket(d))
	if err != nil {
		s.Log.DebugContext(ctx, "cannot read which members are unhealthy", "database", d.Short(), "error", err)
		return nil
	}
	defer global.Close()
	ids, err := global.Read(ctx)
	if err != nil {
		s.Log.DebugContext(ctx, "cannot read which members are unhealthy", "database", d.Short(), "error", err)
	}
	return DamagedServers(ids)
}

// PublishDamage has the others know whether this unit's server has lost entries: lost says
// what, and is empty where it has them all. It writes only where what stands in the
// database is another thing (rule R17), through another member where its own can't,
// and takes the word back only once ovsdb-tool has found the whole file in order.
func (s *Changer) PublishDamage(ctx context.Context, l ServerState, lost string) error {
	if !l.Member() || !l.Status.HasLeader() {
		return nil
	}
	endpoints := [][]string{{"unix:" + s.Control.Paths.Socket(l.Database)}}
	for _, address := range OtherAddresses(l.Status) {
		endpoints = append(endpoints, ovsdb.Endpoints(l.Database, address))
	}
	var err error
	for _, e := range endpoints {
		if err = s.publishDamage(ctx, l, lost, e); err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot tell the others how this unit's server of %s is: %w", l.Database, err)
}

func (s *Changer) publishDamage(ctx context.Context, l ServerState, lost string, endpoints []string) error {
	d, key := l.Database, DamagedPrefix+string(l.Status.Server)
	global, err := s.Global(ctx, d, endpoints...)
	if err != nil {
		return err
	}
	defer global.Close()
	limited, cancel := context.WithTimeout(ctx, StoreTimeout)
	defer cancel()
	ids, err := global.Read(limited)
	if err != nil {
		return err
	}
	switch _, told := ids[key]; {
	case told == (lost != ""):
		return nil
	case lost != "":
		text := fmt.Sprintf("%s, %s: %s", s.Env.Unit, s.Now().UTC().Format(time.RFC3339), lost)
		return global.Put(limited, map[string]string{key: text})
	}
	if damage, err := s.Files.Damaged(ctx, d); err != nil || damage != "" {
		return err
	}
	return global.Drop(limited, key)
}
