package membership

import (
	"context"
	"sync"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Sight is all that a hook or an action begins with.
type Sight struct {
	Locals map[raft.Database]Local
	// Own is what this unit is to publish.
	Own    relation.Unit
	Model  Model
	Memory Memory
}

// Look observes the unit's servers and asks Juju at the same time, and remembers
// both. A memory that
// can't be written, as on a full disk, is a line in the log.
func (s *Service) Look(ctx context.Context, tools *juju.Tools) Sight {
	var (
		memory = s.Recall(ctx)
		locals map[raft.Database]Local
		own    relation.Unit
		wg     sync.WaitGroup
	)
	wg.Go(func() {
		locals = s.ObserveAll(ctx)
		own = s.Identities(ctx, locals)
	})
	model := ReadModel(ctx, tools, s.Env, memory)
	wg.Wait()
	model.publish(own)
	memory = s.Learn(memory, &model, locals)
	if err := s.Remember(memory); err != nil {
		s.Log.WarnContext(ctx, err.Error())
	}
	return Sight{Locals: locals, Own: own, Model: model, Memory: memory}
}
