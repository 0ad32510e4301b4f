package membership_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// file is the name of a golden file for a case.
func file(name string) string { return strings.NewReplacer(",", "", " ", "-").Replace(name) + ".txt" }

// machine stands for the programs of a machine. It answers what a scene says and
// keeps what it was told to do.
type machine struct {
	t       *testing.T
	answers map[ovndb.Database]string
	errors  map[ovndb.Database]string
	left    bool
	joining bool
	mu      sync.Mutex
	told    []string
}

// Run implements run.Runner.
func (m *machine) Run(_ context.Context, c run.Command) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case c.Name == "ovs-appctl" && slices.Contains(c.Args, "cluster/status"):
		d := ovndb.Database(c.Args[len(c.Args)-1])
		if said := m.errors[d]; said != "" {
			return nil, failed(c, 2, said+"\novs-appctl: server returned an error\n")
		}
		return []byte(m.answers[d]), nil
	case c.Name == "ovsdb-tool" && c.Args[0] == "db-name":
		return []byte(map[string]string{"ovnnb_db.db": "OVN_Northbound", "ovnsb_db.db": "OVN_Southbound"}[filepath.Base(c.Args[1])]), nil
	case c.Name == "ovsdb-tool" && c.Args[0] == "db-sid":
		return []byte(full("aa00")), nil
	case c.Name == "ovsdb-tool" && c.Args[0] == "db-cid":
		return nil, failed(c, 2, "ovsdb-tool: cluster ID not yet known\n")
	case c.Name == "ovsdb-tool" && c.Args[0] == "check-cluster" && m.left:
		return []byte(c.Args[1] + ": record 9 shows that the server left the cluster\n"), nil
	case c.Name == "ovsdb-tool" && c.Args[0] == "check-cluster" && m.joining:
		return nil, failed(c, 1, c.Args[1]+" has not joined the cluster, omitting\novsdb-tool: all logs are empty\n")
	case c.Name == "ovsdb-tool":
		return nil, nil
	case c.Name == "systemctl" && c.Args[0] == "show":
		return runtest.Stopped(), nil
	case c.Name == "systemctl":
		m.told = append(m.told, c.String())
		return nil, nil
	}
	m.told = append(m.told, c.String())
	return nil, failed(c, 1, "this machine has no "+c.String()+"\n")
}

func failed(c run.Command, code int, stderr string) error {
	return &run.Error{Command: c, ExitCode: code, Stderr: stderr, Err: errors.New("exit status")}
}

// on puts the unit of a scene on a machine.
func (s scene) on(m *machine) *membership.Changer {
	m.t, m.answers = s.t, map[ovndb.Database]string{}
	if m.errors == nil {
		m.errors = map[ovndb.Database]string{}
	}
	for d, c := range map[ovndb.Database]members{ovndb.NB: s.nb, ovndb.SB: s.sb} {
		switch c.condition {
		case "":
			m.answers[d] = s.view(d, c).Status.String()
		case ovndb.Standalone:
			m.errors[d] = `"cluster/status" is not a valid command (use "list-commands" to see a list of valid commands)`
		case ovndb.Left, ovndb.Failed:
			m.errors[d] = "unknown cluster"
		default:
			m.errors[d] = `ovs-appctl: cannot connect to "ovnnb_db.ctl" (Connection refused)`
		}
	}
	dir := s.t.TempDir()
	service := s.service()
	service.Control = ovn.Control{Runner: m, Paths: ovndb.Paths{Run: dir, DB: dir}}
	service.Files = ovn.Files{Runner: m, Paths: service.Control.Paths}
	service.Services = ovn.Services{Runner: m}
	service.Progress = func(context.Context, string) {}
	service.Goal = func(context.Context) (juju.GoalState, error) {
		return juju.GoalState{Units: s.model().Goal}, nil
	}
	for d, c := range map[ovndb.Database]members{ovndb.NB: s.nb, ovndb.SB: s.sb} {
		require.NoError(s.t, os.WriteFile(service.Control.Paths.Control(d), nil, 0o600))
		if c.condition != ovndb.Absent {
			require.NoError(s.t, os.WriteFile(service.Files.Paths.File(d), []byte("a database"), 0o600))
		}
	}
	return service
}

// observerOn observes the unit of a scene on a machine.
func (s scene) observerOn(m *machine) *observe.Observer {
	return &observe.Observer{Machine: s.on(m).Machine}
}
