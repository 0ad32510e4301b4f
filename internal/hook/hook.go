// Package hook is what Juju runs by the name of a hook. Each hook is short: it
// looks, calls one service, publishes and reports. All but a few do the same,
// since every one of them may be the first to see a change.
package hook

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Timeout bounds a whole hook. The longest honest one is a `stop` that waits for
// another unit's change and then for its own two leaves at the largest election
// timer, 60 s.
const Timeout = 20 * time.Minute

// Unit is the unit that hooks run on.
type Unit struct {
	Tools   *juju.Tools
	Env     juju.Env
	Service *membership.Service
	Log     *slog.Logger
}

var handlers = map[string]func(context.Context, Unit) error{
	"install":                 converge,
	"upgrade-charm":           converge,
	"config-changed":          converge,
	"start":                   converge,
	"update-status":           updateStatus,
	"leader-elected":          converge,
	"leader-settings-changed": converge,
	"stop":                    stop,
	"remove":                  nothing,

	relation.Peer + "-relation-created":  converge,
	relation.Peer + "-relation-joined":   converge,
	relation.Peer + "-relation-changed":  converge,
	relation.Peer + "-relation-departed": converge,
	// By now the relation can be neither read nor written, and nothing that the
	// unit needs in `stop` may depend on it.
	relation.Peer + "-relation-broken": nothing,
}

// Names lists the hooks that are handled, sorted.
func Names() []string { return slices.Sorted(maps.Keys(handlers)) }

// Run runs a hook. One that is not known is no error: a newer Juju may have more
// of them.
func Run(ctx context.Context, u Unit, name string) error {
	handle, known := handlers[name]
	if !known {
		u.Log.InfoContext(ctx, "no handler for this hook", "hook", name)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if err := handle(ctx, u); err != nil {
		return fmt.Errorf("cannot finish hook %s: %w", name, err)
	}
	return nil
}

func nothing(context.Context, Unit) error { return nil }

// converge publishes what this unit has, and says what it sees.
func converge(ctx context.Context, u Unit) error {
	sight, report := u.Service.LookAround(ctx, u.Tools)
	if err := publish(ctx, u, sight); err != nil {
		return err
	}
	word, text := u.Service.Summary(report)
	return u.Tools.StatusSet(ctx, word, text)
}

// updateStatus also takes back what this unit began and a restart has undone.
func updateStatus(ctx context.Context, u Unit) error {
	if err := converge(ctx, u); err != nil {
		return err
	}
	u.Service.TidyLocks(ctx)
	return nil
}

// publish writes this unit's identities, and as Juju's leader the history of all
// units', to every peer relation.
func publish(ctx context.Context, u Unit, sight membership.Sight) error {
	if len(sight.Model.Relations) == 0 {
		return nil
	}
	leader, err := u.Tools.IsLeader(ctx)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot find out whether this unit leads; it does not publish the history", "error", err)
	}
	for _, id := range sight.Model.Relations {
		if err := u.Tools.RelationSet(ctx, id, sight.Own.Bag()); err != nil {
			return err
		}
		if !leader {
			continue
		}
		if err := u.Tools.RelationSetApp(ctx, id, sight.Model.History.Bag()); err != nil {
			// Another unit may have become the leader meanwhile, and will do it.
			u.Log.WarnContext(ctx, "cannot publish the history", "error", err)
		}
	}
	return nil
}
