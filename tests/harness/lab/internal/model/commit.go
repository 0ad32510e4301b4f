package model

import "time"

// Begin does what Juju does before a hook runs: it sets the statuses of install, stop and remove, and caches remote
// data.
func (s *State) Begin(name string, h Hook) {
	u := s.Units[name]
	if u == nil {
		return // the unit is gone, but its hook runs on
	}
	now := time.Now()
	switch h.Kind {
	case Install:
		if !u.Uniter.StatusSet {
			u.Workload = Status{"maintenance", "installing charm software", now}
		}
	case Stop:
		u.Workload = Status{"maintenance", "stopping charm software", now}
	case Remove:
		u.Workload = Status{"maintenance", "cleaning up prior to charm deletion", now}
	}
	if h.Kind != UpdateStatus {
		message := "running " + h.Name() + " hook"
		if h.RemoteUnit != "" {
			message += " for " + h.RemoteUnit
		}
		u.Agent = Status{"executing", message, now}
	}
	if m := u.Uniter.Relations[h.RelationID]; m != nil && h.RemoteUnit != "" {
		delete(m.Seen, h.RemoteUnit)
	}
}

// Commit records that the hook ran, or was skipped. start follows the first config-changed.
func (s *State) Commit(name string, h Hook) {
	u := s.Units[name]
	if u == nil {
		return
	}
	agent := &u.Uniter
	agent.Queued, agent.Failure = nil, nil
	u.Agent = Status{"idle", "", time.Now()}
	s.commitRelation(u, h)
	switch h.Kind {
	case Install:
		agent.Installed = true
	case LeaderElected:
		agent.Leader = true
	case LeaderSettingsChanged:
		agent.LeaderVersion = h.Version
	case UpgradeCharm:
		agent.CharmVersion = h.Version
		agent.LeaderVersion = 0 // the agent starts to watch again, and no longer remembers it
		s.hearOfGone(u)
		agent.Queued = &Hook{Kind: ConfigChanged, Version: s.ConfigVersion, AddressVersion: u.AddressVersion}
	case ConfigChanged:
		agent.ConfigVersion, agent.AddressVersion = h.Version, h.AddressVersion
		s.publishAddresses(u)
		if !agent.Started {
			agent.Queued = &Hook{Kind: Start}
		}
	case Start:
		agent.Started, agent.Rebooted = true, false
		if !agent.StatusSet {
			u.Workload = Status{"unknown", "", time.Now()}
		}
	case Stop:
		agent.Stopped = true
		u.Workload = Status{"maintenance", "", time.Now()}
	case Remove:
		agent.Removed = true
		u.Workload = Status{"terminated", "", time.Now()}
	}
}

func (s *State) commitRelation(u *Unit, h Hook) {
	m := u.Uniter.Relations[h.RelationID]
	if m == nil || h.Relation == "" {
		return
	}
	switch h.Kind {
	case relationCreated:
		m.Created = true
	case relationBroken:
		r := s.Relation(h.RelationID)
		if bag := r.Units[u.Name]; bag != nil {
			bag.InScope = false
		}
		delete(u.Uniter.Relations, h.RelationID)
		s.dropRelation(r)
		s.doom(u)
	case relationDeparted:
		delete(m.Members, h.RemoteUnit)
	case relationJoined:
		m.Members[h.RemoteUnit] = h.Version
		m.ChangedPending = h.RemoteUnit
		m.Joined = s.time()
		delete(m.Gone, h.RemoteUnit)
	case relationChanged:
		m.ChangedPending = ""
		if h.RemoteUnit == "" {
			m.AppVersion = h.Version
		} else {
			m.Members[h.RemoteUnit] = h.Version
		}
	}
}

// Fail puts the unit into error: the hook waits until it is resolved.
func (s *State) Fail(name string, h Hook, f Failure) {
	u := s.Units[name]
	if u == nil {
		return
	}
	u.Uniter.Queued, u.Uniter.Failure = &h, &f
	u.Agent = Status{"error", `hook failed: "` + h.Name() + `"`, time.Now()}
}

// Requeue queues a killed hook again without an error (Juju 3.x: the machine is taken to shut down).
func (s *State) Requeue(name string, h Hook) {
	u := s.Units[name]
	if u == nil {
		return
	}
	u.Uniter.Queued, u.Uniter.Failure = &h, nil
	u.Agent = Status{"idle", "", time.Now()}
}
