package soak

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// electionPatience bounds the time without a leader of a majority, without load ([Charm].Slow).
const electionPatience = 45 * time.Second

const lookEvery = 300 * time.Millisecond

// view is one database's cluster as seen from all machines.
type view struct {
	// status is that of the leader of the latest term, otherwise of the server with the longest committed log; zero if
	// no server answers.
	status raft.Status
	// leads reports whether a majority of the members follows a leader.
	leads bool
	// members are the members in the configuration of status, with the reason why each is up or not.
	members []member
}

type member struct {
	raft.Member
	host *host // nil: no unit's
	why  Why
}

// why returns why a host's server is up or not.
func (w *world) why(h *host, db lab.DB) Why {
	w.mu.Lock()
	defer w.mu.Unlock()
	return whyDown(h.faults, w.step, db, h.Running(db), h.cannotVote[db], h.paused() || h.held(db))
}

// whyDown returns why a member is down, by the current faults and the step that began each. A full disk counts if
// nothing else does: a running server may lose its vote at any time. Later it counts if the server has ended, or can't
// vote: its process continues then, and the unit's next hook repairs it.
func whyDown(faults map[string]int, step int, db lab.DB, running, cannotVote, paused bool) Why {
	why := Up
	fault := func(name string, only bool) {
		if since, found := faults[name]; found && only {
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
	fault("kill "+string(db), !running && !paused) // the pause keeps down what would be started again
	fault("destroy "+string(db), !running)
	if why == Up {
		fault("full", true)
		fault("was full", !running || cannotVote)
		// A server that lost its socket in this step can't be asked whether it can vote.
		if since, lost := faults["lose-socket "+string(db)]; why == Standing && running && lost && since == step {
			why = New
		}
	}
	switch {
	case why == Up && !running && paused:
		return Asked
	case why == Up && !running:
		return Ours
	}
	return why
}

func (w *world) look(ctx context.Context, db lab.DB) view {
	cluster := w.cluster(db)
	answers := ofCluster(w.ask(ctx, db), cluster)
	var v view
	for _, s := range answers {
		if better(s, v.status) {
			v.status = s
		}
	}
	leader := v.status.Leader
	if leader == raft.Self {
		leader = raft.Ref(v.status.Server.Short())
	}
	for _, row := range w.rows(db, cluster, v.status.Servers) {
		m := member{Member: row, host: w.owner(ctx, db, row.Short)}
		switch {
		case m.host == nil:
			m.why = New // the server belongs to no unit any more; this is checked in the end
		case !m.host.current(db, row.Short):
			m.why = Standing
		default:
			m.why = w.why(m.host, db)
		}
		v.members = append(v.members, m)
	}
	followers := 0
	for _, s := range answers {
		if follows(s, leader) {
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

// cluster returns the ID of the application's cluster. A recovery replaces the cluster by one whose terms begin at 1,
// while a unit that returns may still serve the old one. Juju 4 has no leader settings; the IDs are in the
// application's data.
func (w *world) cluster(db lab.DB) raft.ID {
	key := string(db) + "_cid"
	return raft.ID(cmp.Or(w.LeaderSettings()[key], w.AppData()[key]))
}

// ofCluster returns the answers of a cluster's servers, or all while the application has no cluster.
func ofCluster(answers []raft.Status, cluster raft.ID) []raft.Status {
	return slices.DeleteFunc(slices.Clone(answers), func(s raft.Status) bool {
		return cluster != "" && s.Cluster != "" && s.Cluster != cluster
	})
}

// follows reports whether a server follows or is the leader.
func follows(s raft.Status, leader raft.Ref) bool {
	return s.Leader == leader || s.Server.Short() == string(leader)
}

// rows returns the configuration of a database's cluster. If no server answers, that is the last one seen, without the
// servers that have left since.
func (w *world) rows(db lab.DB, cluster raft.ID, now []raft.Member) []raft.Member {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(now) == 0 && w.lastOf[db] == cluster {
		now = slices.DeleteFunc(slices.Clone(w.last[db]), func(m raft.Member) bool { return w.hasLeft(db, m.Short) })
	}
	w.last[db], w.lastOf[db] = now, cluster
	return now
}

// hasLeft reports whether a server's unit has put its file away, which it does once the server's leave is proved.
func (w *world) hasLeft(db lab.DB, short string) bool {
	for _, h := range w.hosts {
		if h.current(db, short) {
			_, destroyed := h.faults["destroy "+string(db)]
			_, err := os.Stat(h.DBFile(db))
			return !destroyed && errors.Is(err, os.ErrNotExist)
		}
	}
	return false
}

// ask returns the status of all servers of a database, except those that are joining.
func (w *world) ask(ctx context.Context, db lab.DB) (answers []raft.Status) {
	asked := slices.DeleteFunc(w.inModel(), func(h *host) bool {
		return !h.Running(db) || w.has(h, "hang "+string(db)) || w.has(h, "power-off")
	})
	askAll(ctx, db, asked, func(h *host, s raft.Status, err error) {
		gaveUp := err != nil || s.State == raft.Failed // a server without socket may have given up
		w.mu.Lock()
		h.cannotVote[db] = gaveUp || lacksEntries(ctx, h.DBDir(), db, s.Log.End)
		w.mu.Unlock()
		if gaveUp {
			return
		}
		w.known(h, db, string(s.Server))
		if s.State != raft.JoiningCluster {
			answers = append(answers, s)
		}
	})
	return answers
}

// lacksEntries reports whether a server's file in dir lacks entries before end, the end of the server's log. If its
// leader goes, such a server takes part in no election. Its requests for votes wait until the entries are stored
// ("message index 192 is past last synced index 191", Open vSwitch 3.1). Its term rises with each request all the same,
// so it rejects those of the others, whose terms are lower.
func lacksEntries(ctx context.Context, dir string, db lab.DB, end uint64) bool {
	paths := ovndb.Paths{DB: dir, Run: filepath.Join(dir, "none")} // stores no scan, as the unit does
	log, err := raftfile.ReadLog(ctx, paths, ovndb.Database(db.Schema()))
	return err == nil && (log.Damage != "" || log.End < end)
}

// askAll asks servers at the same time, and calls heard with one answer after another.
func askAll(ctx context.Context, db lab.DB, hosts []*host, heard func(h *host, s raft.Status, err error)) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, h := range hosts {
		group.Go(func() {
			s, err := h.raft(ctx, db)
			mu.Lock()
			defer mu.Unlock()
			heard(h, s, err)
		})
	}
	group.Wait()
}

func (h *host) raft(ctx context.Context, db lab.DB) (s raft.Status, err error) {
	text, err := h.Status(ctx, db)
	if err != nil {
		return s, err
	}
	return raft.Parse(text)
}

// better reports whether a status is more informative than another. A leader's is better, by term, then the one with
// the longer committed log. The term of a member that is cut off grows by itself.
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

// known records the newest ID of a host's server.
func (w *world) known(h *host, db lab.DB, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	short := raft.ID(id).Short()
	if i := slices.Index(h.ids[db], short); i >= 0 {
		h.ids[db] = slices.Delete(h.ids[db], i, i+1)
	}
	h.ids[db] = append(h.ids[db], short)
}

// current reports whether a member is the host's present server.
func (h *host) current(db lab.DB, short string) bool {
	ids := h.ids[db]
	return len(ids) > 0 && ids[len(ids)-1] == short
}

// owner returns the host on which a member's server is or was.
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

func (v view) whys() (all []Why) {
	for _, m := range v.members {
		all = append(all, m.why)
	}
	return all
}

// lostByFaults reports whether there is no leader because faults, and nothing else, have left no majority.
func (v view) lostByFaults() bool {
	whys := v.whys()
	return !v.leads && len(whys) > 0 && !slices.Contains(whys, Ours) && Cost{Members: whys}.Judge() == Faults
}
