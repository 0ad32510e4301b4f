package membership

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// stopped is a server that does not answer, and the state of its file.
type stopped struct {
	observe.ServerState
	// clustered is false if the server has left, or was in no cluster. Then it is not a member.
	clustered bool
	// log is the log of a clustered file. If it is whole, a server can be started on the file.
	log   raftfile.Log
	whole bool
}

// silent reports whether a server in this condition does not answer.
func silent(c ovndb.Condition) bool { return c == ovndb.Down || c == ovndb.Hung || c == ovndb.Failed }

func (r *removal) stoppedServers(ctx context.Context) (all []stopped) {
	for _, d := range ovndb.Databases() {
		l := r.servers[d]
		if !silent(l.Condition) {
			continue
		}
		if l.Condition == ovndb.Hung {
			l.File, l.FileErr = r.Files.Inspect(ctx, d)
		}
		server := stopped{ServerState: l, clustered: l.FileErr == nil && l.File.Clustered && !l.File.Left}
		if server.clustered {
			log, err := raftfile.ReadLog(ctx, r.Files.Paths, d)
			server.log, server.whole = log, err == nil && log.Damage == ""
			if !server.whole {
				r.Log.InfoContext(ctx, "no server can be started on the file", "database", d.Short(), "damage", log.Damage, "error",
					err)
			}
		}
		all = append(all, server)
	}
	return all
}

// needed are stopped servers that staying units need, the reasons, and the remedies once the servers run.
type needed struct {
	servers []stopped
	reasons []finding.Finding
	then    []finding.Remedy
}

func (n *needed) add(l stopped, f finding.Finding) {
	n.servers, n.reasons = append(n.servers, l), append(n.reasons, f)
}

// neededMembers returns the members without which the others are no majority (rule R1). The others could commit
// nothing without them, not even a removal. A server that can be started restores the quorum.
func (r *removal) neededMembers(ctx context.Context, servers []stopped) needed {
	n := needed{then: []finding.Remedy{finding.ByHand(finding.AwaitLeave), leaveBehind(r.application)}}
	for _, l := range servers {
		if _, member := l.log.Addresses[l.File.Server]; !l.whole || !member || len(l.log.Members) == 1 {
			continue // an only copy is judged separately
		}
		without, removed := r.Observer.QuorumWithout(ctx, r.application, r.cache, l.ServerState, l.log)
		if removed || without.Holds() {
			continue
		}
		n.add(l, finding.Of(finding.ServerNeeded, l.Database,
			finding.Args{
				After: finding.Tally{Up: without.Up, Members: without.Members}, Reasons: []finding.Reason{l.Reason()},
			}))
	}
	return n
}

// startNeeded returns the refusal. If all servers have given up their databases and have whole files, it first
// restarts them: that loses nothing, and no hook runs any more after a failed stop.
func (r *removal) startNeeded(ctx context.Context, n needed) error {
	first := finding.Do(startCommand(r.application.Unit, n.servers))
	if !slices.ContainsFunc(n.servers, func(l stopped) bool { return l.Condition != ovndb.Failed || !l.whole }) {
		var services []ovndb.Service
		for _, l := range n.servers {
			services = append(services, ovndb.ServiceOf(l.Database))
		}
		if err := r.Services.Restart(ctx, services...); err != nil {
			r.Log.WarnContext(ctx, "cannot restart the servers that the others need", "error", err)
		} else {
			first = finding.ByHand(finding.AwaitServer)
		}
	}
	return finding.Refuse(n.reasons, append([]finding.Remedy{first}, n.then...)...)
}

// startCommand returns the command that starts stopped servers: the action resume if all are down, whether or not
// they were paused. No action ends servers that hang or have given up their databases.
func startCommand(unit string, servers []stopped) command.Command {
	var services []string
	down := true
	for _, l := range servers {
		services, down = append(services, string(ovndb.ServiceOf(l.Database))), down && l.Condition == ovndb.Down
	}
	if down {
		return command.Command{Unit: unit, Action: "resume"}
	}
	names := strings.Join(services, " ")
	return command.OnMachine(unit, fmt.Sprintf("sudo systemctl unmask %s && sudo systemctl restart %s", names, names))
}

// onlyCopies returns the stopped servers whose databases no staying unit is known to have (rule R9).
func (r *removal) onlyCopies(servers []stopped) needed {
	n := needed{then: []finding.Remedy{finding.ByHand(finding.AwaitJoin), TakeTheCopy(r.application)}}
	for _, l := range servers {
		// A file that can't be read may still be repaired.
		if l.FileErr == nil && !l.clustered || !onlyCopy(r.application, r.cache, l) {
			continue
		}
		n.add(l, finding.Of(finding.OnlyCopy, l.Database,
			finding.Reason{
				Code: finding.Quoted, Value: r.Control.Paths.File(l.Database), Because: []finding.Reason{l.Reason()},
			}.Args()))
	}
	return n
}

// onlyCopy reports whether this unit has the only copy of a database. Two conditions must hold:
//   - The server was a member when it was last seen, or is the only member by its file, like that of a cluster on which
//     no server has run yet. The server's ID counts if it is known.
//   - No staying unit is known to be a member: none has published a server of this cluster that has been a member, or
//     was in the last seen configuration, and was not removed since.
func onlyCopy(m observe.Application, cache observe.Cache, l stopped) bool {
	d := l.Database
	seen, cluster := cache.Configurations[d], cmp.Or(l.File.Cluster, m.Published[m.Unit][d].Cluster)
	sole := l.whole && l.log.Sole(l.File.Server)
	if !sole && (seen.Since == 0 && len(seen.Members) == 0 || l.File.Server != "" && seen.Server != l.File.Server) {
		return false // it is not known to have been a member
	}
	for unit, published := range m.Published {
		id := published[d]
		if unit == m.Unit || id.Server == "" || !m.Exists(unit) || m.Dying(unit) || cache.RemovedBefore(d, id.Server) ||
			id.OfAnother(cluster) {
			continue
		}
		if id.Since != 0 || slices.Contains(seen.Members, id.Server.Short()) {
			return false
		}
	}
	return true
}

// haltOperation stops an unreadable server of a unit that is being removed. The server may vote, and can't be told to
// leave, so it remains a member, which is then down. The other members must be a majority without it.
type haltOperation struct {
	*removal
	// server has the File that evaluate has read: the observation of an unreadable server has no File.
	server observe.ServerState
	log    raftfile.Log
	lock   *lock
	// begun reports whether stopping the server was permitted, done whether its process is gone.
	begun, done bool
}

// haltUnreadable stops the unreadable servers of this unit, unless it has a serving one: the serving one must leave,
// which must be permitted first. The error is a [*finding.RefusedError] if nothing was changed.
func (r *removal) haltUnreadable(ctx context.Context) error {
	var halts []*haltOperation
	for _, d := range ovndb.Databases() {
		switch l := r.servers[d]; l.Condition {
		case ovndb.Unreadable:
			halts = append(halts, &haltOperation{removal: r, server: l})
		case ovndb.Serving:
			return r.refuseUnreadable()
		}
	}
	judge := func(ctx context.Context) error {
		for _, h := range halts {
			if why := h.evaluate(ctx); !why.IsZero() {
				r.Log.InfoContext(ctx, "not stopping a server that can't be asked", "database", h.server.Database.Short(),
					"reason", why)
				return r.refuseUnreadable()
			}
		}
		return nil
	}
	return change[*haltOperation]{operations: halts, judge: judge, begin: r.BeforeLeaving, ends: always}.carryOut(ctx)
}

// evaluate returns why the server must not be stopped; no reason if the other members are a majority without it. It
// takes the members from the server's file, which the server extends while it runs. Under the lock, an unfinished
// change of another unit and a damaged file of another member are reasons, too.
func (h *haltOperation) evaluate(ctx context.Context) finding.Reason {
	var err error
	if h.server.File, err = h.Files.Inspect(ctx, h.server.Database); err != nil {
		return finding.Quote(err.Error())
	}
	if h.log, err = raftfile.ReadLog(ctx, h.Files.Paths, h.server.Database); err != nil {
		return finding.Quote(err.Error())
	}
	if _, member := h.log.Addresses[h.server.File.Server]; !member || h.log.Damage != "" {
		return finding.Reason{Code: finding.MembersUnlisted}
	}
	without, removed := h.Observer.QuorumWithout(ctx, h.application, h.cache, h.server, h.log)
	if !removed && !without.Holds() {
		return finding.Reason{Code: finding.NoMajorityWithout, Count: without.Up, Total: without.Members}
	}
	if h.lock == nil {
		return finding.Reason{}
	}
	ids, _, record, err := h.lock.read(ctx)
	if err != nil {
		return finding.Quote(err.Error())
	}
	for _, begun := range record.Intents {
		if begun.ID != string(h.server.File.Server) || begun.By != h.Env.Unit {
			return finding.Reason{
				Code: finding.ChangeBegun, Name: begun.By, Value: fmt.Sprintf("%s of %s", begun.Kind, begun.ID),
			}
		}
	}
	if lost := h.damaged(ids); len(lost) > 0 {
		return finding.Reason{Code: finding.OtherFileDamaged, Value: fmt.Sprint(lost)}
	}
	return finding.Reason{}
}

// damaged returns the members that have lost entries according to ids, the external_ids of the database. They are in
// this server's file, or may have joined since. Records of removed members don't count: only the units of these
// members drop them.
func (h *haltOperation) damaged(ids map[string]string) []raft.ID {
	removed := observe.RemovedServers(ids)
	return slices.DeleteFunc(observe.DamagedServers(ids), func(id raft.ID) bool {
		_, member := h.log.Addresses[id]
		for _, published := range h.application.Published {
			member = member || published[h.server.Database].Server == id
		}
		return !member || removed[id] != ""
	})
}

func (h *haltOperation) takeLock(ctx context.Context) error {
	db := h.server.Database
	var others []string
	for id, address := range h.log.Addresses {
		if id != h.server.File.Server {
			others = append(others, ovsdb.Endpoints(db, address)...)
		}
	}
	k := &lock{changer: h.Changer, database: db, others: others, server: h.server.File.Server}
	if err := k.takeThrough(ctx, others, raft.Status{}, h.abortIfTearingDown(h.application)); err != nil {
		return err
	}
	h.lock = k
	return nil
}

// haltPatience is how long a process may take to end once systemd has stopped its service.
const haltPatience = 10 * time.Second

func (h *haltOperation) act(ctx context.Context) error {
	db := h.server.Database
	limited, cancel, err := h.lock.recordIntent(ctx, lease.Down, string(h.server.File.Server))
	if err != nil {
		return err
	}
	defer cancel()
	if why := h.evaluate(limited); !why.IsZero() {
		return finding.Refuse([]finding.Finding{finding.Of(finding.ServerUnreadable, db, why.Args())},
			leaveBehind(h.application))
	}
	if _, err := h.lock.mayAct(); err != nil {
		return err
	}
	h.begun = true
	h.Progress(ctx, db.Short()+": the server can't be asked, and the others are a majority without it; stopping it")
	if err := h.Services.Stop(ctx, ovndb.ServiceOf(db)); err != nil {
		return err
	}
	var l observe.ServerState
	h.done = poll.Await(ctx, haltPatience, observe.PollInterval, nil, func() bool {
		l = h.Observer.ObserveServer(ctx, db)
		return l.Condition != ovndb.Unreadable && l.Condition != ovndb.Serving
	})
	if !h.done {
		return &PendingError{db, finding.Reason{Code: finding.StopUnseen, Because: []finding.Reason{l.Reason()}}}
	}
	return nil
}

func (h *haltOperation) release(ctx context.Context) { h.lock.releaseDown(ctx, h.done || !h.begun) }
