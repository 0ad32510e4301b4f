package lab

import (
	"context"
	"fmt"
	"maps"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// SetLeader gives the leadership to a unit, as the controller does when the lease
// of the one before runs out: that unit runs leader-elected, and the other one
// finds that it leads no more.
func (l *Lab) SetLeader(ctx context.Context, u *Unit) error {
	if u.Removed() {
		return fmt.Errorf("cannot make %s the leader: it is gone", u.name)
	}
	l.model.Do(func(s *model.State) { s.Leader = u.name })
	return l.settleStarted(ctx)
}

// LeaderSettings are those of leader-set.
func (l *Lab) LeaderSettings() (settings map[string]string) {
	l.model.Do(func(s *model.State) { settings = maps.Clone(s.LeaderSettings) })
	return settings
}

// SetLeaderSettings is leader-set of a leader before this charm, or beside it. An
// empty value deletes its key. The others run leader-settings-changed.
func (l *Lab) SetLeaderSettings(ctx context.Context, settings map[string]string) error {
	l.model.Do(func(s *model.State) { s.WriteLeaderSettings(settings) })
	return l.settleStarted(ctx)
}

// WorkloadVersion is what application-version-set has said.
func (l *Lab) WorkloadVersion() (version string) {
	l.model.Do(func(s *model.State) { version = s.WorkloadVersion })
	return version
}
