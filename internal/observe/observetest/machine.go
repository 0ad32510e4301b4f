package observetest

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum, no secret
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// Machine simulates the programs of a machine. It gives the answers of a scenario and records commands.
type Machine struct {
	// Answers are the servers' statuses, Errors the errors that replace them.
	Answers, Errors map[ovndb.Database]string
	// Left and Joining are the states that ovsdb-tool finds in the files.
	Left, Joining bool
	// Starting: systemd has a process for nb's service.
	Starting bool
	// Told are the commands that change something.
	Told []string

	mu sync.Mutex
}

// Run implements run.Runner.
func (m *Machine) Run(_ context.Context, c run.Command) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case c.Name == "ovs-appctl" && slices.Contains(c.Args, "cluster/status"):
		d := ovndb.Database(c.Args[len(c.Args)-1])
		if said := m.Errors[d]; said != "" {
			return nil, Failed(c, 2, said+"\novs-appctl: server returned an error\n")
		}
		return []byte(m.Answers[d]), nil
	case c.Name == "ovsdb-tool" && c.Args[0] == "check-cluster" && m.Left:
		return []byte(c.Args[1] + ": record 9 shows that the server left the cluster\n"), nil
	case c.Name == "ovsdb-tool" && c.Args[0] == "check-cluster" && m.Joining:
		return nil, Failed(c, 1, c.Args[1]+" has not joined the cluster, omitting\novsdb-tool: all logs are empty\n")
	case c.Name == "ovsdb-tool":
		return nil, nil
	case c.Name == "systemctl" && c.Args[0] == "show":
		if m.Starting {
			return bytes.Replace(runtest.Stopped(),
				[]byte("ovn-ovsdb-server-nb.service\nLoadState=loaded\nActiveState=inactive\nUnitFileState=disabled\nMainPID=0"),
				[]byte("ovn-ovsdb-server-nb.service\nLoadState=loaded\nActiveState=active\nUnitFileState=disabled\nMainPID=4711"),
				1), nil
		}
		return runtest.Stopped(), nil
	case c.Name == "systemctl":
		m.Told = append(m.Told, c.String())
		return nil, nil
	}
	m.Told = append(m.Told, c.String())
	return nil, Failed(c, 1, "this machine has no "+c.String()+"\n")
}

// FileOf returns the file of a server, without data (ovsdb(5), "Clustered Format"). The cluster and the members'
// addresses may be empty.
func FileOf(d ovndb.Database, server, cluster raft.ID, members map[raft.ID]string) []byte {
	return FileUpTo(1, d, server, cluster, members)
}

// FileUpTo returns a file like [FileOf], with the index of the newest entry.
func FileUpTo(index uint64, d ovndb.Database, server, cluster raft.ID, members map[raft.ID]string) []byte {
	text, err := json.Marshal(map[string]any{
		"name": d, "server_id": server, "cluster_id": cluster, "local_address": "ssl:192.0.2.1:6643",
		"prev_index": index, "prev_term": 1, "prev_servers": members,
	})
	if err != nil {
		panic(err) // impossible for texts and numbers
	}
	//nolint:gosec // the file format's own checksum
	return fmt.Appendf(nil, "OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum(text), text)
}

// Failed returns the error of a program with that exit code.
func Failed(c run.Command, code int, stderr string) error {
	return &run.Error{Command: c, ExitCode: code, Stderr: stderr, Err: errors.New("exit status")}
}

// ObserverOn returns an observer for the scenario's unit on a machine.
func (s Scenario) ObserverOn(m *Machine) *observe.Observer {
	m.Answers = map[ovndb.Database]string{}
	if m.Errors == nil {
		m.Errors = map[ovndb.Database]string{}
	}
	for d, c := range map[ovndb.Database]Members{ovndb.NB: s.NB, ovndb.SB: s.SB} {
		switch c.Condition {
		case "":
			m.Answers[d] = s.View(d, c).Status.Text
		case ovndb.Standalone:
			m.Errors[d] = `"cluster/status" is not a valid command (use "list-commands" to see a list of valid commands)`
		case ovndb.Left, ovndb.Failed:
			m.Errors[d] = "unknown cluster"
		default:
			m.Errors[d] = `ovs-appctl: cannot connect to "ovnnb_db.ctl" (Connection refused)`
		}
	}
	dir := s.T.TempDir()
	observer := s.Observer()
	observer.Control = ovsctl.Control{Runner: m, Paths: ovndb.Paths{Run: dir, DB: dir}}
	observer.Files = ovsctl.Files{Runner: m, Paths: observer.Control.Paths}
	observer.Services = systemd.Services{Runner: m}
	for d, c := range map[ovndb.Database]Members{ovndb.NB: s.NB, ovndb.SB: s.SB} {
		require.NoError(s.T, os.WriteFile(observer.Control.Paths.Control(d), nil, 0o600))
		if c.Condition != ovndb.Absent {
			require.NoError(s.T, os.WriteFile(observer.Files.Paths.File(d), FileOf(d, Full("aa00"), "", nil), 0o600))
		}
	}
	return observer
}
