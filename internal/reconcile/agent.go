package reconcile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// agentRecord is what is remembered of the agent.
type agentRecord struct {
	// Program is the file that was copied, Setup what the agent was last told and how it
	// was to be run: a digest.
	Program string `json:"program,omitempty"`
	Setup   string `json:"setup,omitempty"`
	// Systemd is the release of systemd for which the service was written; 0: not known.
	Systemd int `json:"systemd,omitempty"`
	// Problem is why it can't be set up; empty if it is.
	Problem string `json:"problem,omitempty"`
}

// reconcileAgent has the agent run as it is configured, once the unit's servers are members, and
// not while the unit is paused. A unit that is being removed keeps it until it leaves. What
// goes wrong fails no hook: the databases don't depend on it.
func (u *Reconciler) reconcileAgent(ctx context.Context, p pass) error {
	r, a, o := p.record, p.inputs, p.result
	if u.Program == "" || o.state.Dying || a.problem != "" {
		return nil
	}
	var err error
	switch {
	case o.state.Paused:
		err = u.haltAgent(ctx, r)
	case o.Decision.Ready || r.Agent.Setup != "":
		err = u.runAgent(ctx, p)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	problem := ""
	if err != nil {
		if problem = firstLine(err.Error()); problem != r.Agent.Problem {
			u.Log.WarnContext(ctx, "cannot set up the agent; the databases don't depend on it", "error", err)
		}
	}
	r.Agent.Problem = problem
	return nil
}

// runAgent does nothing but ask whether it runs, in a hook that looks at everything, where
// all is as it was.
func (u *Reconciler) runAgent(ctx context.Context, p pass) error {
	r, a, o := p.record, p.inputs, p.result
	program, err := fileStamp(u.Program)
	if err != nil {
		return err
	}
	if a.thorough || r.Agent.Setup == "" {
		if version, err := u.Services.Version(ctx); err == nil { // else what every systemd knows will do
			r.Agent.Systemd = version
		}
	}
	unit, settings, err := []byte(agentUnit(u.Paths, r.Agent.Systemd)), []byte(nil), error(nil)
	if !agentOptionsInvalid(a.invalid) {
		if settings, err = u.agentConfig(a, o); err != nil {
			return err
		}
	} else if settings, err = os.ReadFile(u.Paths.AgentConfig()); errors.Is(err, fs.ErrNotExist) {
		return nil // it is not started before it can be told what to do
	} else if err != nil {
		return err
	}
	want := agentFiles{program, unit, settings}
	if program == r.Agent.Program && want.digest() == r.Agent.Setup && !a.thorough && r.Agent.Problem == "" {
		return nil
	}
	return u.startAgent(ctx, r, want)
}

// agentFiles are what the agent is to be run with: the stamp of its program, its unit of systemd
// and its configuration.
type agentFiles struct {
	program        string
	unit, settings []byte
}

// digest stands for its unit and its configuration.
func (f agentFiles) digest() string { return digest(f.unit, f.settings) }

func (u *Reconciler) startAgent(ctx context.Context, r *record, want agentFiles) error {
	program, setup := want.program, want.digest()
	_, missing := os.Stat(u.Paths.AgentProgram())
	restart := program != r.Agent.Program || missing != nil
	if restart {
		if err := copyProgram(u.Program, u.Paths.AgentProgram()); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(u.Paths.AgentUnit()), 0o755); err != nil {
		return err
	}
	changed, err := atomicfile.WriteIfChanged(u.Paths.AgentUnit(), want.unit, 0o644)
	if err != nil {
		return err
	}
	if changed || setup != r.Agent.Setup {
		if err := u.Services.Reload(ctx); err != nil {
			return err
		}
		if err := u.Services.Enable(ctx, ovndb.Agent); err != nil {
			return err
		}
	}
	restart = restart || changed
	told, err := atomicfile.WriteIfChanged(u.Paths.AgentConfig(), want.settings, 0o600)
	if err != nil {
		return err
	}
	active, err := u.Services.Active(ctx, ovndb.Agent)
	switch {
	case err != nil:
	case !active || restart:
		err = u.Services.Restart(ctx, ovndb.Agent)
	case told || setup != r.Agent.Setup:
		err = u.Services.HangUp(ctx, ovndb.Agent)
	}
	if err == nil {
		r.Agent.Program, r.Agent.Setup = program, setup
	}
	return err
}

// agentOptionsInvalid says whether an option of the agent can't be used: it goes on then as
// it was told before.
func agentOptionsInvalid(invalid map[string]string) bool {
	return slices.ContainsFunc([]string{
		plan.OptionAgentMode, plan.OptionLeaseTTL, plan.OptionAgentPort, plan.OptionHoldDown, plan.OptionNeutronGateways, plan.OptionCordonNew,
	}, func(option string) bool { return invalid[option] != "" })
}

// agentConfig is what the agent is told. It speaks to this unit's own servers: with them
// down, another unit is to act.
func (u *Reconciler) agentConfig(a inputs, o Result) ([]byte, error) {
	files := u.Paths.Credentials()
	generation := []byte(nil)
	for _, path := range []string{files.Key, files.Certificate, files.CA} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot configure the agent: %w", err)
		}
		generation = append(generation, text...)
	}
	at := func(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
	s := a.settings.Agent
	c := config.Config{
		Unit: u.Env.Unit, Mode: config.Mode(s.Mode), TTL: s.TTL, HoldDown: s.HoldDown, NeutronGateways: s.NeutronGateways, CordonNew: s.CordonNew, Northd: true,
		NB: []string{"unix:" + u.Paths.Socket(ovndb.NB)}, SB: []string{"unix:" + u.Paths.Socket(ovndb.SB)},
		Listen: at("127.0.0.1", s.Port), PeerListen: at(a.address.String(), ovndb.AgentPeerPort),
		Socket: u.Paths.AgentSocket(),
		Key:    files.Key, Certificate: files.Certificate, CA: files.CA, Generation: digest(generation),
		Backups: u.Paths.Backups, BackupInterval: a.settings.Backup.Interval,
	}
	for _, address := range o.Snapshot.Application.PeerAddresses() {
		c.Peers = append(c.Peers, at(address.String(), ovndb.AgentPeerPort))
	}
	slices.Sort(c.Peers)
	return c.Render(), c.Check()
}

// HaltAgent stops the agent, so that another unit's takes over at once. Where it can't be
// stopped, that comes later: the others see that this unit doesn't act.
func (u *Reconciler) HaltAgent(ctx context.Context) {
	r, err := u.loadRecord()
	if err == nil {
		err = errors.Join(u.haltAgent(ctx, r), u.saveRecord(r))
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot stop the agent", "error", err)
	}
}

// haltAgent stops the agent; it doesn't start with the machine either.
func (u *Reconciler) haltAgent(ctx context.Context, r *record) error {
	if r.Agent.Setup == "" {
		return nil
	}
	if err := u.Services.Stop(ctx, ovndb.Agent); err != nil {
		return err
	}
	if err := u.Services.Disable(ctx, ovndb.Agent); err != nil {
		return err
	}
	r.Agent.Setup = ""
	return nil
}

// removeAgent takes it from the machine.
func (u *Reconciler) removeAgent(ctx context.Context) error {
	if _, err := os.Stat(u.Paths.AgentUnit()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := errors.Join(u.Services.Stop(ctx, ovndb.Agent), u.Services.Disable(ctx, ovndb.Agent))
	for _, path := range []string{u.Paths.AgentUnit(), u.Paths.AgentConfig(), u.Paths.AgentProgram(), filepath.Dir(u.Paths.AgentProgram())} {
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return errors.Join(err, u.Services.Reload(ctx))
}

// fileStamp tells a file from another one of its name: Juju unpacks each charm anew.
func fileStamp(path string) (string, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot find the agent's program: %w", err)
	}
	return fmt.Sprintf("%d bytes of %s", stat.Size(), stat.ModTime().UTC().Format("2006-01-02T15:04:05.999999999Z")), nil
}

func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		_, err = atomicfile.WriteIfChanged(to, text, 0o755)
	}
	if err != nil {
		return fmt.Errorf("cannot copy the agent's program: %w", err)
	}
	return nil
}

func digest(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:8])
}
