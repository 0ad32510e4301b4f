package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
)

const schemaDir = "/usr/share/ovn"

// JoinDatabases makes the unit a member of both clusters and starts its servers. It creates the clusters if no other
// unit of the model has them, and keeps existing files. It returns when the servers are members.
func (u *Unit) JoinDatabases(ctx context.Context) error {
	if err := u.layOut(ctx); err != nil {
		return err
	}
	for _, db := range Databases {
		if err := u.joinDatabase(ctx, db); err != nil {
			return fmt.Errorf("cannot make %s a member of %s: %w", u.name, db, err)
		}
	}
	if err := u.announce(ctx); err != nil {
		return err
	}
	if _, code, err := u.Systemctl(ctx, "start", machine.Umbrella); err != nil || code != 0 {
		return fmt.Errorf("cannot start %s on %s: exit code %d: %w", machine.Umbrella, u.name, code, err)
	}
	return u.lab.refreshNorthd(ctx)
}

func (u *Unit) joinDatabase(ctx context.Context, db DB) error {
	created := false
	if _, err := os.Stat(u.DBFile(db)); err != nil {
		through, others := u.lab.members(ctx, db, u)
		switch {
		case len(through) > 0:
			var remotes []string
			for _, member := range through {
				remotes = append(remotes, member.Raft(db))
			}
			if err := u.join(ctx, JoinOptions{DB: db, Remotes: remotes}); err != nil {
				return err
			}
		case others:
			return errors.New("no running member to join through")
		default:
			if err := u.create(ctx, db); err != nil {
				return err
			}
			created = true
		}
	}
	if err := u.Start(ctx, db); err != nil {
		return err
	}
	if err := u.awaitMember(ctx, db); err != nil {
		return err
	}
	if created {
		return u.listen(ctx, db)
	}
	return nil
}

// members returns the other units that are members. others reports whether any other unit has the database's file.
func (l *Lab) members(ctx context.Context, db DB, but *Unit) (running []*Unit, others bool) {
	for _, u := range l.Units() {
		if u == but {
			continue
		}
		if _, err := os.Stat(u.DBFile(db)); err != nil {
			continue
		}
		others = true
		if text, err := u.Status(ctx, db); err == nil && settled(text) {
			running = append(running, u)
		}
	}
	return running, others
}

// settled reports whether a cluster/status is that of a member that knows a leader.
func settled(status string) bool {
	return field(status, "Status") == "cluster member" && field(status, "Leader") != "unknown"
}

// field returns the value of the first line "NAME: VALUE" of a cluster/status.
func field(status, name string) string {
	match := regexp.MustCompile(`(?m)^` + name + `: (.*)$`).FindStringSubmatch(status)
	if match == nil {
		return ""
	}
	return match[1]
}

func (u *Unit) awaitMember(ctx context.Context, db DB) error {
	return await(ctx, func() (bool, error) {
		text, err := u.Status(ctx, db)
		if err == nil && !settled(text) {
			err = fmt.Errorf("its status is %q", field(text, "Status"))
		}
		return err == nil, err
	})
}

func (u *Unit) create(ctx context.Context, db DB) error {
	_, err := u.tool(ctx, "--election-timer="+strconv.FormatInt(u.lab.o.ElectionTimer.Milliseconds(), 10), "create-cluster", u.DBFile(db),
		schemaDir+"/ovn-"+string(db)+".ovsschema", u.Machine.Raft(db))
	return err
}

// JoinOptions are the options of a join.
type JoinOptions struct {
	DB DB
	// ClusterID is the UUID that the cluster must have; empty means any.
	ClusterID string
	// Remotes are members, ssl:ADDRESS:PORT.
	Remotes []string
}

// JoinWith makes a new member's file with these options and starts the server. It does not wait, so that tests can
// make joins that fail.
func (u *Unit) JoinWith(ctx context.Context, o JoinOptions) error {
	err := u.layOut(ctx)
	if err == nil {
		err = u.join(ctx, o)
	}
	if err != nil {
		return fmt.Errorf("cannot make %s join %s: %w", u.name, o.DB, err)
	}
	return u.Start(ctx, o.DB)
}

func (u *Unit) join(ctx context.Context, o JoinOptions) error {
	var args []string
	if o.ClusterID != "" {
		args = append(args, "--cid="+o.ClusterID)
	}
	args = append(args, "join-cluster", u.DBFile(o.DB), o.DB.Schema(), u.Machine.Raft(o.DB))
	_, err := u.tool(ctx, append(args, o.Remotes...)...)
	return err
}

// tool runs ovsdb-tool and returns its output without the last line end. The machine may be off.
func (u *Unit) tool(ctx context.Context, args ...string) (string, error) {
	out, err := u.lab.Exec(ctx, "ovsdb-tool", args...)
	return strings.TrimSpace(out), err
}

// RaftLeader waits, for at most [limit], for a server that calls itself leader and returns its unit. An old leader
// may do so for two election timers after it was cut off. If there are several, it returns the one with the latest
// term.
func (l *Lab) RaftLeader(ctx context.Context, db DB) (leader *Unit, err error) {
	err = await(ctx, func() (bool, error) {
		latest := -1
		for _, u := range l.Units() {
			if !u.Running(db) {
				continue
			}
			text, err := u.Status(ctx, db)
			term, _ := strconv.Atoi(field(text, "Term"))
			if err == nil && field(text, "Role") == "leader" && term > latest {
				leader, latest = u, term
			}
		}
		if leader == nil {
			return false, fmt.Errorf("cannot find a leader of %s", db)
		}
		return true, nil
	})
	return leader, err
}

// serverTimeout bounds a query to a server that may hang.
const serverTimeout = 3 * time.Second

// Appctl sends the database's server a command as ovs-appctl does, for at most [serverTimeout]. It makes one request
// of JSON-RPC on the server's control socket and runs no program. Source: lib/unixctl.c of Open vSwitch.
func (u *Unit) Appctl(ctx context.Context, db DB, command string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	answer, err := unixctl(ctx, u.Ctl(db), command, args)
	if err != nil {
		return "", fmt.Errorf("cannot ask %s of %s for %s: %w", db, u.name, command, err)
	}
	return answer, nil
}

func unixctl(ctx context.Context, socket, command string, args []string) (string, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return "", err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if args == nil {
		args = []string{}
	}
	request := map[string]any{"id": 0, "method": command, "params": args}
	if err := json.NewEncoder(c).Encode(request); err != nil {
		return "", err
	}
	var reply struct {
		Result string  `json:"result"`
		Error  *string `json:"error"`
	}
	switch err := json.NewDecoder(c).Decode(&reply); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", err
	case reply.Error != nil:
		return "", errors.New(strings.TrimSpace(*reply.Error))
	}
	return reply.Result, nil
}
