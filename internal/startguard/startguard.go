// Package startguard keeps a server from starting on a cluster that a recovery or a restore has replaced, before any
// hook of its unit has run. systemd runs it right before each start. It asks the other units' servers about both
// databases. If it can't find out in time, the server starts.
package startguard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// ExitRefused is the exit code that makes systemd not start the server. With any other exit code, or without the
// program, the server starts.
const ExitRefused = 3

// timeout limits the whole check. A running server answers in milliseconds, and the machine of a stopped one refuses
// the connection at once, so only machines that are off or cut off take the whole time.
const timeout = 4 * time.Second

// networkPoll is the interval of retries while this machine has no network.
const networkPoll = 200 * time.Millisecond

// Config is the guard's configuration, written by the unit's last hook.
type Config struct {
	// Peers are the addresses of the other units.
	Peers []string `json:"peers"`
}

// Guard judges starts on one unit.
type Guard struct {
	Paths  ovndb.Paths
	Dialer *ovsdb.Dialer
}

// Start calls [Guard.Check] for systemd, right before a start. It records a refusal, so that the unit's hooks show
// the reason and don't wait for the server ([observe.RefusedStart]).
func (g Guard) Start(ctx context.Context, db ovndb.Database) (reason string, err error) {
	forgotten := Forget(g.Paths, db)
	refused, err := g.Check(ctx, db)
	if refused.Reason != "" {
		err = errors.Join(err, note(g.Paths, db, refused))
	}
	return refused.Reason, errors.Join(forgotten, err)
}

// Forget removes the record of a refused start.
func Forget(p ovndb.Paths, db ovndb.Database) error {
	if err := atomicfile.Remove(p.StartRefusal(db)); err != nil {
		return fmt.Errorf("cannot remove the note on a refused start: %w", err)
	}
	return nil
}

// note writes the record. After a boot the directory may be missing.
func note(p ovndb.Paths, db ovndb.Database, refused observe.Refusal) error {
	text, err := json.Marshal(refused)
	if err == nil {
		err = os.MkdirAll(p.Run, 0o755)
	}
	if err == nil {
		err = atomicfile.Write(p.StartRefusal(db), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot note that a start was refused: %w", err)
	}
	return nil
}

// Check judges a start of the server of a database. The server may start if the result has no reason, even with an
// error, which names the unknown facts.
func (g Guard) Check(ctx context.Context, db ovndb.Database) (refused observe.Refusal, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	text, err := os.ReadFile(g.Paths.StartGuard())
	if errors.Is(err, fs.ErrNotExist) {
		return refused, nil
	}
	var c Config
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return refused, fmt.Errorf("cannot read which servers to ask: %w", err)
	}
	own, err := raftfile.Cluster(ctx, g.Paths, db)
	if err != nil {
		return refused, err
	}
	answers, err := g.ask(ctx, c.Peers)
	about := answers[db]
	if other, unread := observe.RefusedStart(g.Paths, db.Other()); unread == nil {
		about = append(about, other.Answers[db]...) // answers that the other server's guard got
	}
	return observe.Refusal{Cluster: own, Reason: recovery.Superseded(own, about).String(), Answers: answers}, err
}

// ask asks all peers at the same time for both databases: a firewall may separate this machine from one of the
// databases.
func (g Guard) ask(ctx context.Context, peers []string) (map[ovndb.Database][]recovery.Answer, error) {
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		all      = map[ovndb.Database][]recovery.Answer{}
		failures error
	)
	for _, peer := range peers {
		for _, db := range ovndb.Databases() {
			wg.Go(func() {
				answers, err := g.askOne(ctx, db, peer)
				mu.Lock()
				defer mu.Unlock()
				for about, more := range answers {
					all[about] = append(all[about], more...)
				}
				failures = errors.Join(failures, err)
			})
		}
	}
	wg.Wait()
	return all, failures
}

// askOne asks one server. It retries until this machine has a network: the machine may just have booted.
func (g Guard) askOne(
	ctx context.Context, db ovndb.Database, peer string,
) (map[ovndb.Database][]recovery.Answer, error) {
	endpoints := ovsdb.Endpoints(db, ovndb.RaftAddress(db, peer))
	for {
		global, err := g.Dialer.Global(ctx, db, endpoints...)
		switch {
		case err == nil:
			defer global.Close()
			ids, err := global.Read(ctx)
			var server ovsdb.ServerState
			if len(observe.SupersededClusters(ids)) > 0 {
				server, err = g.Dialer.Server(ctx, db, endpoints...) // the answer counts even without its cluster
			}
			return observe.SupersededAnswers(peer, db, server.Cluster, ids), err
		case !errors.Is(err, syscall.ENETUNREACH) || poll.Wait(ctx, networkPoll) != nil:
			return nil, err
		}
	}
}

// install writes the configuration, and the drop-ins that run the guard before each start. reload reports whether
// systemd must reload its files.
func install(p ovndb.Paths, c Config) (reload bool, err error) {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return false, fmt.Errorf("cannot write the start guard: %w", err)
	}
	if _, err := atomicfile.WriteIfChanged(p.StartGuard(), append(text, '\n'), 0o600); err != nil {
		return false, err
	}
	for _, db := range ovndb.Databases() {
		changed, err := atomicfile.Install(p.DropIn(ovndb.ServiceOf(db)), []byte(dropIn(p, db)), 0o644)
		if reload = reload || changed; err != nil {
			return reload, err
		}
	}
	return reload, nil
}

// dropIn returns the addition to the package's unit (systemd.service(5), ExecCondition=): a command that exits with 1
// keeps the service from starting without marking it as failed.
func dropIn(p ovndb.Paths, db ovndb.Database) string {
	return strings.NewReplacer("PROGRAM", p.AgentProgram(), "DATABASE", db.Short()).Replace(
		`# Written by the charm ovn-central: after a recovery the old cluster is not served again.
[Service]
ExecCondition=/bin/sh -c 'PROGRAM start-guard DATABASE || test $$? -ne 3'
`)
}

// remove removes the files of install. reload reports whether systemd must reload its files.
func remove(p ovndb.Paths) (reload bool, err error) {
	paths := []string{p.StartGuard()}
	for _, db := range ovndb.Databases() {
		path := p.DropIn(ovndb.ServiceOf(db))
		paths = append(paths, path, filepath.Dir(path))
	}
	for _, path := range paths {
		switch gone := os.Remove(path); {
		case gone == nil:
			reload = true
		case errors.Is(gone, fs.ErrNotExist), errors.Is(gone, syscall.ENOTEMPTY): // other packages have drop-ins, too
		default:
			err = errors.Join(err, gone)
		}
	}
	for _, db := range ovndb.Databases() {
		err = errors.Join(err, Forget(p, db))
	}
	return reload, err
}

// Systemd makes systemd read its units again.
type Systemd interface {
	Reload(ctx context.Context) error
}

// Manager installs the guard on a unit's machine.
type Manager struct {
	Paths   ovndb.Paths
	Systemd Systemd
	Log     *slog.Logger
}

// Ensure makes systemd ask the other units' servers, before each start of a server here, whether the server's cluster
// was replaced. That needs the agent's program; without it, the next hook stops such a server. Ensure has no
// findings. The error is the context's.
func (m Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	_, err := os.Stat(m.Paths.AgentProgram()) // the agent's first start copies it
	if o.Preview || o.State.Dying || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	peers := slices.Concat(o.MemberAddresses(), o.Application.PeerAddresses())
	slices.SortFunc(peers, netip.Addr.Compare)
	var c Config
	for _, address := range slices.Compact(peers) {
		if address != o.Addresses.Own {
			c.Peers = append(c.Peers, address.String())
		}
	}
	reload, err := install(m.Paths, c)
	if err = m.reload(ctx, reload, err); err != nil && ctx.Err() == nil {
		m.Log.WarnContext(ctx, "cannot install the start guard", "error", err)
	}
	return nil, ctx.Err()
}

// Remove removes the guard from the machine.
func (m Manager) Remove(ctx context.Context) error {
	reload, err := remove(m.Paths)
	return m.reload(ctx, reload, err)
}

func (m Manager) reload(ctx context.Context, reload bool, err error) error {
	if reload {
		err = errors.Join(err, m.Systemd.Reload(ctx))
	}
	return err
}
