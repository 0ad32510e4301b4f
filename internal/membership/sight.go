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
// both. A memory that can't be written, as on a full disk, is a line in the log.
func (s *Service) Look(ctx context.Context, tools *juju.Tools) Sight {
	return s.look(ctx, tools, func(map[raft.Database]Local) {})
}

// LookAround is Look, and what the unit then sees of both clusters.
func (s *Service) LookAround(ctx context.Context, tools *juju.Tools) (Sight, Report) {
	var seen map[raft.Database]Cluster
	sight := s.look(ctx, tools, func(locals map[raft.Database]Local) { seen = s.clusters(ctx, locals) })
	return sight, s.report(sight.Model, seen)
}

// look begins further with what was observed while Juju is still being asked.
func (s *Service) look(ctx context.Context, tools *juju.Tools, further func(map[raft.Database]Local)) Sight {
	var (
		memory = s.Recall(ctx)
		locals map[raft.Database]Local
		own    relation.Unit
		wg     sync.WaitGroup
	)
	wg.Go(func() {
		locals = s.ObserveAll(ctx)
		wg.Go(func() { further(locals) })
		own = s.Identities(ctx, locals)
		keepKnown(own, s.Env.Unit, locals, memory)
	})
	model := ReadModel(ctx, tools, s.Env, memory)
	wg.Wait()
	model.publish(own)
	memory = s.Learn(memory, &model, locals)
	if err := s.Remember(memory); err != nil {
		s.Log.WarnContext(ctx, err.Error())
	}
	return Sight{Locals: locals, Own: model.Published[model.Unit], Model: model, Memory: memory}
}

// LookAgain observes the unit's servers again; what Juju said stays as it was.
func (s *Service) LookAgain(ctx context.Context, before Sight) Sight {
	after := before
	after.Locals = s.ObserveAll(ctx)
	own := s.Identities(ctx, after.Locals)
	keepKnown(own, s.Env.Unit, after.Locals, before.Memory)
	after.Model.publish(own)
	after.Memory = s.Learn(before.Memory, &after.Model, after.Locals)
	after.Own = after.Model.Published[after.Model.Unit]
	if err := s.Remember(after.Memory); err != nil {
		s.Log.WarnContext(ctx, err.Error())
	}
	return after
}
