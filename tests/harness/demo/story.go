package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

type story struct {
	*lab.Lab
	ctx    context.Context
	out    io.Writer
	writer *lab.Writer
	lost   *lab.Unit
}

var chapters = []func(*story) error{
	(*story).deploy, (*story).certify, (*story).grow, (*story).leaveGracefully, (*story).dieWithoutLeaving,
	(*story).refuseDangerousKick, (*story).kickWhatIsDead, (*story).countWrites,
}

func (s *story) title(text string) { fmt.Fprintf(s.out, "\n== %s\n", text) }
func (s *story) tell(text string)  { fmt.Fprintf(s.out, "   %s\n", text) }
func (s *story) typed(line string) { fmt.Fprintf(s.out, "\n$ %s\n", line) }

func (s *story) deploy() error {
	s.title("Three empty machines get OVN's packages, and wait for certificates")
	s.typed("juju deploy ./ovn-central_amd64.charm -n 3 --config source=distro --config ovsdb-server-election-timer=1")
	if err := s.Configure(s.ctx, map[string]string{"source": "distro", "ovsdb-server-election-timer": "1"}); err != nil {
		return err
	}
	if err := s.add(3); err != nil {
		return err
	}
	return s.status()
}

func (s *story) add(n int) error {
	_, err := s.AddUnitsWith(s.ctx, n, lab.AddOptions{Fresh: true})
	return err
}

func (s *story) certify() error {
	s.title("With certificates they become two Raft clusters, one of each database")
	s.typed("juju integrate ovn-central:certificates vault:certificates")
	begun := time.Now()
	if _, err := s.RelateCA(s.ctx); err != nil {
		return err
	}
	s.tell(fmt.Sprintf("settled after %.1f s", time.Since(begun).Seconds()))
	s.writer = s.StartWriter(s.ctx, 0)
	s.tell("From here on a client writes to both databases all the time.")
	if err := s.status(); err != nil {
		return err
	}
	_, err := s.run(s.Units()[1], "cluster-status")
	return err
}

func (s *story) grow() error {
	s.title("A fourth and a fifth unit join")
	s.typed("juju add-unit ovn-central -n 2")
	if err := s.add(2); err != nil {
		return err
	}
	return s.status()
}

func (s *story) leaveGracefully() error {
	s.title("Two units are removed, first the one that leads: each leaves both clusters, then goes")
	for range 2 {
		leader, err := s.RaftLeader(s.ctx, lab.NB)
		if err != nil {
			return err
		}
		s.typed("juju remove-unit " + leader.Name())
		begun := time.Now()
		if err := s.RemoveUnit(s.ctx, leader, lab.RemoveOptions{}); err != nil {
			return err
		}
		s.tell(fmt.Sprintf("gone after %.1f s; a leader needs one election timer, which is 1 s here", time.Since(begun).Seconds()))
	}
	if err := s.UpdateStatus(s.ctx); err != nil { // the other units ran their last hooks before the last leave
		return err
	}
	s.tell("Three members of three are up, not three of five.")
	return s.status()
}

func (s *story) dieWithoutLeaving() error {
	s.title("A machine dies: its unit can't leave, and its members stay behind")
	leader, err := s.RaftLeader(s.ctx, lab.NB)
	if err != nil {
		return err
	}
	for _, u := range s.Units() {
		if u.Name() != leader.Name() {
			s.lost = u
		}
	}
	s.typed("juju remove-unit --force --no-wait " + s.lost.Name())
	if err := s.RemoveUnit(s.ctx, s.lost, lab.RemoveOptions{Force: true}); err != nil {
		return err
	}
	// A leader counts a member as down once it has missed it for one election timer.
	for stale := false; !stale; {
		if err := s.pause(200 * time.Millisecond); err != nil {
			return err
		}
		if err := s.UpdateStatus(s.ctx); err != nil {
			return err
		}
		next, err := s.next(leader)
		if err != nil {
			return err
		}
		stale = next != "" && strings.Contains(leader.Workload().Message, next)
	}
	if err := s.status(); err != nil {
		return err
	}
	_, err = s.run(leader, "cluster-status")
	return err
}

// pause waits in real time: real time decides whether a member is silent.
func (s *story) pause(d time.Duration) error {
	select {
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-time.After(d):
		return nil
	}
}

func (s *story) refuseDangerousKick() error {
	s.title("An operator takes the wrong identity, that of a unit that lives, and forces it: it is refused, with the reason")
	on, other, err := s.leaderAndFollower()
	if err != nil {
		return err
	}
	nb, err := other.ServerID(s.ctx, lab.NB)
	if err != nil {
		return err
	}
	s.tell("(ovsdb-server itself would do it, say so, and never elect a leader again)")
	result, err := s.run(on, "kick", "nb-identity="+nb[:4], "force=true", "i-really-mean-it=true")
	if err == nil && result.Status != "failed" {
		err = errors.New("the kick that breaks the quorum was not refused")
	}
	return err
}

func (s *story) leaderAndFollower() (leader, follower *lab.Unit, err error) {
	leader, err = s.RaftLeader(s.ctx, lab.NB)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range s.Units() {
		if u.Name() != leader.Name() {
			follower = u
		}
	}
	return leader, follower, nil
}

func (s *story) kickWhatIsDead() error {
	s.title("The command that cluster-status has printed repairs it")
	leader, _, err := s.leaderAndFollower()
	if err != nil {
		return err
	}
	next, err := s.next(leader)
	if err != nil {
		return err
	}
	words := strings.Fields(next)
	if len(words) < 4 {
		return fmt.Errorf("health has no command to type, but %q", next)
	}
	on, err := s.Unit(words[2])
	if err != nil {
		return err
	}
	result, err := s.run(on, words[3], words[4:]...)
	if err != nil {
		return err
	}
	if result.Status != "completed" {
		return errors.New("the printed kick was not done")
	}
	if err := s.UpdateStatus(s.ctx); err != nil {
		return err
	}
	return s.status()
}

// next returns the command to kick a stale member that a unit prints, if any.
func (s *story) next(on *lab.Unit) (string, error) {
	result, err := s.RunAction(s.ctx, on, "health", "format=json")
	if err != nil {
		return "", err
	}
	all, err := cluster.ReadFindings(result.Results["findings"])
	if err != nil {
		return "", err
	}
	stale, is := all.Find(finding.StaleMember, s.lost.Name())
	if commands := cluster.Commands(stale); is && stale.Remedies[0].Deed == "" {
		return commands[0], nil
	}
	return "", nil
}

func (s *story) countWrites() error {
	s.title("What the client wrote all along")
	s.writer.Stop()
	all, err := s.writer.Verify(s.ctx)
	if err != nil {
		return err
	}
	for _, db := range lab.Databases {
		w := all[db]
		s.tell(fmt.Sprintf("%s: %d writes acknowledged, %d of them lost; longest gap between two %.1f s",
			db.Schema(), w.Acknowledged, w.Lost, w.LongestGap.Seconds()))
		if w.Lost > 0 || w.Acknowledged == 0 {
			return fmt.Errorf("%s: acknowledged writes are lost, or there were none", db.Schema())
		}
	}
	return nil
}

func (s *story) status() error {
	s.typed("juju status ovn-central")
	s.PrintStatus(s.out)
	return s.ctx.Err()
}

func (s *story) run(u *lab.Unit, action string, args ...string) (lab.ActionResult, error) {
	s.typed(strings.Join(append([]string{"juju run", u.Name(), action}, args...), " "))
	result, err := s.RunAction(s.ctx, u, action, args...)
	if err == nil {
		result.Print(s.out, u)
	}
	return result, err
}
