package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// rewritePatience is how long a server may take to put the new file in the place of the
// old one once it has said that it compacts.
const rewritePatience = 5 * time.Second

const rewriteInterval = 50 * time.Millisecond

// DamagedFileError is returned if a server's file lacks entries of its log and could not be rewritten. The server must
// not be stopped.
type DamagedFileError struct {
	Database ovndb.Database
	// Missing describes the lacking entries. Err is why the file was not rewritten.
	Missing string
	Err     error
}

func (e *DamagedFileError) Error() string {
	return fmt.Sprintf("%s: the file of this unit's server lacks entries, so it must not be stopped (%s): %v",
		e.Database.Short(), e.Missing, e.Err)
}

// Unwrap is why it could not be rewritten.
func (e *DamagedFileError) Unwrap() error { return e.Err }

// RewriteFile makes a server whose file lacks entries write it again from its memory, and proves by ovsdb-tool that the
// new file can be loaded. It does nothing if the file is whole. Call it before a server is stopped. The error is a
// [*DamagedFileError] if the file still lacks entries.
func (s *Changer) RewriteFile(ctx context.Context, d ovndb.Database) error {
	l := s.Observer.ObserveServer(ctx, d)
	lost, err := s.Observer.MissingEntries(ctx, l)
	if err != nil {
		return fmt.Errorf("cannot find out whether the file of %s is whole: %w", d, err)
	}
	if lost == "" && l.Condition == ovndb.Hung {
		log, err := raftfile.ReadLog(ctx, s.Files.Paths, d)
		if err == nil && log.Damage != "" {
			return &DamagedFileError{d, log.Damage, l.Err}
		}
	}
	if lost == "" {
		return nil
	}
	s.Log.WarnContext(ctx, "the server's file lacks entries; the server rewrites it", "database", d.Short(), "lost", lost)
	if err := s.Control.Compact(ctx, d); err != nil {
		return &DamagedFileError{d, lost, err}
	}
	// It may be written a moment later.
	poll.Await(ctx, s.Patience(d, rewritePatience), rewriteInterval, nil, func() bool {
		lost, err = s.Observer.MissingEntries(ctx, s.Observer.ObserveServer(ctx, d))
		return err != nil || lost == ""
	})
	if err == nil && lost == "" {
		lost, err = s.Files.Damaged(ctx, d)
	}
	switch {
	case err != nil:
		return &DamagedFileError{d, lost, err}
	case lost != "":
		return &DamagedFileError{d, lost, errors.New("the server has not rewritten its file; see its log")}
	}
	s.Log.InfoContext(ctx, "the server has rewritten its file, which is whole", "database", d.Short())
	return nil
}

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
