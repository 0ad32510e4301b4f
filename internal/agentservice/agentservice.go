// Package agentservice installs, configures and runs the unit's agent as a service of systemd, and reports its
// problems. The databases don't depend on the agent.
package agentservice

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Services has the calls of systemd that the manager needs.
type Services interface {
	Version(ctx context.Context) (int, error)
	Reload(ctx context.Context) error
	Active(ctx context.Context, service ovndb.Service) (bool, error)
	HangUp(ctx context.Context, service ovndb.Service) error
	Stop(ctx context.Context, services ...ovndb.Service) error
	Restart(ctx context.Context, services ...ovndb.Service) error
	Enable(ctx context.Context, services ...ovndb.Service) error
	Disable(ctx context.Context, services ...ovndb.Service) error
}

// Manager maintains the service of a unit's agent.
type Manager struct {
	// Program is the file of the running program; the agent runs a copy of it. If Program is empty, there is no agent.
	Program  string
	Paths    ovndb.Paths
	Services Services
	State    *unitstate.State
	Log      *slog.Logger
}

// kept is the stored state.
type kept struct {
	// Program identifies the copied file. Setup is a digest of the last written unit and configuration.
	Program string `json:"program,omitempty"`
	Setup   string `json:"setup,omitempty"`
	// Systemd is the release of systemd for which the unit was written; 0 means unknown.
	Systemd int `json:"systemd,omitempty"`
	// Problem is the reason why the agent can't be set up; it is empty if it can.
	Problem string `json:"problem,omitempty"`
}

var section = unitstate.NewSection[kept]("agent")

// Ensure runs the agent with its options once the unit's servers are members, and stops it while the unit is paused. A
// unit that is being removed keeps its agent until it leaves. It returns only the context's error.
func (m *Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	last := section.Get(m.State)
	if o.Preview || o.State.Dying || !o.Known.Problem.IsZero() || m.Program == "" {
		return failed(last.Problem), nil
	}
	var err error
	switch {
	case o.State.Paused:
		err = m.halt(ctx, &last)
	case o.Decision.Ready || last.Setup != "":
		err = m.run(ctx, o, &last)
	}
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), section.Set(m.State, last))
	}
	before := last.Problem
	last.Problem = ""
	if err != nil {
		if last.Problem, _, _ = strings.Cut(err.Error(), "\n"); last.Problem != before {
			m.Log.WarnContext(ctx, "cannot set up the agent; the databases don't depend on it", "error", err)
		}
	}
	return failed(last.Problem), section.Set(m.State, last)
}

// Ask returns the agent's own report, and findings about its problems. If the agent can't be set up, Ask returns no
// findings, because [Manager.Ensure] returns the cause.
func (m *Manager) Ask(ctx context.Context) (s report.Status, found []finding.Finding) {
	last := section.Get(m.State)
	if last.Setup == "" {
		return s, nil
	}
	s, err := report.Ask(ctx, m.Paths.AgentConfig())
	if last.Problem != "" {
		return s, nil
	}
	if err != nil {
		m.Log.WarnContext(ctx, "the agent does not answer", "error", err)
		silent := finding.Reason{Code: finding.AgentSilent, Name: string(ovndb.Agent)}
		return report.Status{}, failed(silent.String())
	}
	return s, append(failed(s.Problem()), s.Gateways.Findings()...)
}

func failed(problem string) []finding.Finding {
	if problem == "" {
		return nil
	}
	return []finding.Finding{finding.New(finding.AgentFailed, finding.Subject{}, finding.Args{Value: problem})}
}

// run starts the agent if something has changed. If o is thorough, it also starts an agent that does not run. If an
// option is invalid, the agent keeps its configuration.
func (m *Manager) run(ctx context.Context, o facts.Facts, last *kept) error {
	program, err := fileStamp(m.Program)
	if err != nil {
		return err
	}
	if o.Thorough || last.Setup == "" {
		if version, err := m.Services.Version(ctx); err == nil { // otherwise only keys that every systemd knows
			last.Systemd = version
		}
	}
	var settings []byte
	if o.Known.Usable(plan.AgentOptions...) {
		if settings, err = render(m.Paths, o); err != nil {
			return err
		}
	} else if settings, err = os.ReadFile(m.Paths.AgentConfig()); errors.Is(err, fs.ErrNotExist) {
		return nil // the agent was never configured
	} else if err != nil {
		return err
	}
	want := files{program, []byte(unit(m.Paths, last.Systemd)), settings}
	if program == last.Program && want.digest() == last.Setup && !o.Thorough && last.Problem == "" {
		return nil
	}
	return m.start(ctx, want, last)
}

// files identifies the agent's files: the stamp of its program, its systemd unit and its configuration.
type files struct {
	program        string
	unit, settings []byte
}

func (f files) digest() string { return unitstate.Digest(f.unit, f.settings) }

func (m *Manager) start(ctx context.Context, want files, last *kept) error {
	setup := want.digest()
	restart, err := m.install(ctx, want, *last)
	if err != nil {
		return err
	}
	configured, err := atomicfile.WriteIfChanged(m.Paths.AgentConfig(), want.settings, 0o600)
	if err != nil {
		return err
	}
	active, err := m.Services.Active(ctx, ovndb.Agent)
	switch {
	case err != nil:
	case !active || restart:
		err = m.Services.Restart(ctx, ovndb.Agent)
	case configured || setup != last.Setup:
		err = m.Services.HangUp(ctx, ovndb.Agent)
	}
	if err == nil {
		last.Program, last.Setup = want.program, setup
	}
	return err
}

// install copies the program and writes the unit. restart reports whether the agent must be restarted.
func (m *Manager) install(ctx context.Context, want files, last kept) (restart bool, err error) {
	_, missing := os.Stat(m.Paths.AgentProgram())
	if restart = want.program != last.Program || missing != nil; restart {
		if err := copyProgram(m.Program, m.Paths.AgentProgram()); err != nil {
			return false, err
		}
	}
	changed, err := atomicfile.Install(m.Paths.AgentUnit(), want.unit, 0o644)
	if err != nil || !changed && want.digest() == last.Setup {
		return restart, err
	}
	if err := m.Services.Reload(ctx); err != nil {
		return false, err
	}
	return restart || changed, m.Services.Enable(ctx, ovndb.Agent)
}

// Halt stops and disables the agent.
func (m *Manager) Halt(ctx context.Context) error {
	last := section.Get(m.State)
	if err := m.halt(ctx, &last); err != nil {
		return err
	}
	return section.Set(m.State, last)
}

func (m *Manager) halt(ctx context.Context, last *kept) error {
	if last.Setup == "" {
		return nil
	}
	if err := m.Services.Stop(ctx, ovndb.Agent); err != nil {
		return err
	}
	if err := m.Services.Disable(ctx, ovndb.Agent); err != nil {
		return err
	}
	last.Setup = ""
	return nil
}

// Remove removes the agent from the machine.
func (m *Manager) Remove(ctx context.Context) error {
	if _, err := os.Stat(m.Paths.AgentUnit()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := errors.Join(m.Services.Stop(ctx, ovndb.Agent), m.Services.Disable(ctx, ovndb.Agent))
	program := m.Paths.AgentProgram()
	gone := atomicfile.Remove(m.Paths.AgentUnit(), m.Paths.AgentConfig(), program, filepath.Dir(program))
	return errors.Join(err, gone, m.Services.Reload(ctx))
}
