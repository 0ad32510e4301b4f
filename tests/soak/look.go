package soak

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// electionPatience is within what a majority that is up has a leader, on a machine that
// has nothing else to do ([Charm].Slow): elections by load are no fault of the charm's,
// and end.
const electionPatience = 45 * time.Second

// poll is how often the world is looked at while something is waited for.
const poll = 300 * time.Millisecond

// view is one database's cluster as those who see it all see it.
type view struct {
	// status is that of the leader of the latest term, else of whoever has the longest
	// committed log; the zero one where no server could be asked.
	status raft.Status
	// leads is whether there is a leader whom a majority of the members follows.
	leads bool
	// members are those of its configuration, with why they are up or not.
	members []member
}

type member struct {
	raft.Member
	host *host // nil: nobody's
	why  Why
}

// why says why a host's server is up or not.
func (w *world) why(h *host, db lab.DB) Why {
	w.mu.Lock()
	defer w.mu.Unlock()
	return whyDown(h.faults, w.step, db, h.Running(db), h.gaveUp[db], h.paused())
}

// whyDown says so by the faults that stand, with the step that began each. A disk that
// is full takes no vote away as long as its server runs, and may at any time: it counts
// where nothing else does. Once there is space again it counts where the server has ended,
// or could not store its vote meanwhile and has given the database up: its process goes on
// then, and the unit's next hook starts another.
func whyDown(faults map[string]int, step int, db lab.DB, running, gaveUp, paused bool) Why {
	why := Up
	fault := func(name string, only bool) {
		if since, stands := faults[name]; stands && only {
			if since == step && why != Standing {
				why = New
			} else {
				why = Standing
			}
		}
	}
	for _, name := range []string{"gone", "power-off", "cut", "mute", "hang " + string(db)} {
		fault(name, true)
	}
	fault("kill "+string(db), !running)
	if why == Up {
		fault("full", true)
		fault("was full", !running || gaveUp)
	}
	switch {
	case why == Up && !running && paused:
		return Asked
	case why == Up && !running:
		return Ours
	}
	return why
}

// look asks all servers that can be asked.
func (w *world) look(ctx context.Context, db lab.DB) view {
	type answer struct {
		host   *host
		status raft.Status
	}
	var (
		mu      sync.Mutex
		group   sync.WaitGroup
		answers []answer
	)
	for _, h := range w.all() {
		if h.Removed() || !h.Running(db) || w.has(h, "hang "+string(db)) || w.has(h, "power-off") {
			continue
		}
		group.Go(func() {
			text, err := h.Status(ctx, db)
			s, malformed := raft.Parse(text)
			w.mu.Lock()
			h.gaveUp[db] = err != nil && strings.Contains(err.Error(), "unknown cluster") || err == nil && s.State == raft.Failed
			lost := h.gaveUp[db]
			w.mu.Unlock()
			if err == nil && malformed == nil && !lost {
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, answer{h, s})
			}
		})
	}
	group.Wait()
	var v view
	for _, a := range answers {
		w.known(a.host, db, string(a.status.Server))
		if a.status.State == raft.JoiningCluster {
			continue
		}
		if better(a.status, v.status) {
			v.status = a.status
		}
	}
	leader := v.status.Leader
	if leader == raft.Self {
		leader = raft.Ref(v.status.Server.Short())
	}
	rows := v.status.Servers
	w.mu.Lock()
	if len(rows) == 0 { // no server can be asked: they are who they were
		rows = w.last[db]
	}
	w.last[db] = rows
	w.mu.Unlock()
	for _, row := range rows {
		m := member{Member: row, host: w.owner(ctx, db, row.Short)}
		switch {
		case m.host == nil:
			m.why = New // whoever it was: it is nobody's server any more, and that is looked at in the end
		case !m.host.current(db, row.Short):
			m.why = Standing
		default:
			m.why = w.why(m.host, db)
		}
		v.members = append(v.members, m)
	}
	followers := 0
	for _, a := range answers {
		if a.status.Leader == leader || a.status.Server.Short() == string(leader) {
			followers++
		}
	}
	for _, m := range v.members {
		if m.why == Up && w.has(m.host, "lose-socket "+string(db)) {
			followers++ // it can't be asked, and works
		}
	}
	v.leads = leader != raft.UnknownRef && followers > len(v.members)/2
	return v
}

// better says whether a status tells more of the cluster than another: that of a leader
// does, of leaders that of the latest term; else that of a longer log, as far as it is
// committed. A member that is cut off goes to later terms all by itself.
func better(a, b raft.Status) bool {
	aLeads, bLeads := a.Role == raft.Leader, b.Role == raft.Leader
	switch {
	case b.Server == "":
		return true
	case aLeads != bLeads:
		return aLeads
	case aLeads && a.Term != b.Term:
		return a.Term > b.Term
	case a.Committed() != b.Committed():
		return a.Committed() > b.Committed()
	case a.Term != b.Term:
		return a.Term > b.Term
	}
	return a.Log.End > b.Log.End
}

// known notes that a host's server has this ID.
func (w *world) known(h *host, db lab.DB, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	short := raft.ID(id).Short()
	if i := slices.Index(h.ids[db], short); i >= 0 {
		h.ids[db] = slices.Delete(h.ids[db], i, i+1)
	}
	h.ids[db] = append(h.ids[db], short)
}

// current says whether a member is the server that the host has now.
func (h *host) current(db lab.DB, short string) bool {
	ids := h.ids[db]
	return len(ids) > 0 && ids[len(ids)-1] == short
}

// owner is the host that a member's server is, or was, on.
func (w *world) owner(ctx context.Context, db lab.DB, short string) *host {
	find := func() *host {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, h := range w.hosts {
			if slices.Contains(h.ids[db], short) {
				return h
			}
		}
		return nil
	}
	if h := find(); h != nil {
		return h
	}
	for _, h := range w.all() {
		if id, err := h.ServerID(ctx, db); err == nil && !slices.Contains(h.ids[db], raft.ID(id).Short()) {
			w.known(h, db, id)
		}
	}
	return find()
}

// whys are the reasons of a view.
func (v view) whys() (all []Why) {
	for _, m := range v.members {
		all = append(all, m.why)
	}
	return all
}
