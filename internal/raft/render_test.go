package raft

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestString_reproduces_output(t *testing.T) {
	t.Parallel()
	statuses, _ := captures(t)
	for _, name := range statuses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := capture(t, name)
			got, err := Parse(text)
			require.NoError(t, err)
			assert.Empty(t, got.Unknown)
			for _, m := range got.Servers {
				assert.Empty(t, m.Extra)
			}
			assert.Equal(t, text, got.String())
		})
	}
}

func TestParse_rendered_status(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawStatus(t)
		got, err := Parse(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestString_unknown_lines_keep_place(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		status := drawStatus(t)
		lines := strings.SplitAfter(status.String(), "\n")
		lines = lines[:len(lines)-1]
		// An unknown line anywhere but between "Servers:" and the last row.
		rows := len(lines) - len(status.Servers)
		var want []Unknown
		var text strings.Builder
		number := 0
		for i, line := range append(lines, "") {
			if i > 0 && (i < rows || i == len(lines)) {
				for range rapid.IntRange(0, 2).Draw(t, "unknown lines") {
					number++
					u := Unknown{Line: number, Text: fmt.Sprintf("Novelty %d: %s", number, drawWord(t))}
					want = append(want, u)
					text.WriteString(u.Text + "\n")
				}
			}
			number++
			text.WriteString(line)
		}

		got, err := Parse(text.String())
		require.NoError(t, err)
		require.Equal(t, want, got.Unknown)
		require.Equal(t, text.String(), got.String())
		got.Unknown = nil
		require.Equal(t, status, got)
	})
}

func drawStatus(t *rapid.T) Status {
	server := ID(rapid.StringMatching(uuid).Draw(t, "server ID"))
	s := Status{
		Nick: server.Short(), Name: drawWord(t), Server: server, Address: drawAddress(t),
		Cluster: rapid.Ptr(rapid.Custom(func(t *rapid.T) ID {
			return ID(rapid.StringMatching(uuid).Draw(t, "cluster ID"))
		}), true).Draw(t, "cluster"),
		State: rapid.SampledFrom([]MemberState{
			ClusterMember, JoiningCluster, LeavingCluster, LeftCluster, Failed, Disconnected,
		}).Draw(t, "state"),
		Remotes:       drawSome(t, "remotes", drawAddress),
		Adding:        drawSome(t, "adding", drawPending),
		Removing:      drawSome(t, "removing", drawPending),
		Role:          rapid.SampledFrom([]Role{Leader, Candidate, Follower}).Draw(t, "role"),
		Term:          rapid.Uint64().Draw(t, "term"),
		Leader:        drawRef(t),
		Vote:          drawRef(t),
		Won:           rapid.Ptr(rapid.Custom(drawMillis), true).Draw(t, "won"),
		ElectionTimer: drawMillis(t),
		ChangingTo:    drawMillis(t),
		NotCommitted:  rapid.Uint64().Draw(t, "not committed"),
		NotApplied:    rapid.Uint64().Draw(t, "not applied"),
		Connections: drawSome(t, "connections", func(t *rapid.T) Connection {
			return Connection{drawNick(t), rapid.Bool().Draw(t, "incoming"), rapid.Bool().Draw(t, "up")}
		}),
		Disconnections: rapid.Ptr(rapid.Uint64(), true).Draw(t, "disconnections"),
	}
	if rapid.Bool().Draw(t, "election") {
		s.Election = &Election{drawMillis(t), drawWord(t)}
	}
	s.Log.Start = rapid.Uint64().Draw(t, "log start")
	s.Log.End = rapid.Uint64Min(s.Log.Start).Draw(t, "log end")
	s.Servers = drawSome(t, "servers", drawMember)
	if len(s.Servers) > 0 && rapid.Bool().Draw(t, "self is a member") {
		m := &s.Servers[rapid.IntRange(0, len(s.Servers)-1).Draw(t, "self")]
		m.Short, m.Self = s.Nick, true
	}
	return s
}

func drawMember(t *rapid.T) Member {
	nick := drawNick(t)
	m := Member{
		Short: nick, Address: drawAddress(t), Phase: drawPhase(t),
		LastMsg: rapid.Ptr(rapid.Custom(drawMillis), true).Draw(t, "last msg"),
		Extra: rapid.SampledFrom([]string{
			"", " (learning)", " next_index=?", " last msg never", " lag=" + drawWord(t),
		}).Draw(t, "extra"),
	}
	if rapid.Bool().Draw(t, "voted") {
		m.VotedFor = drawNick(t)
	}
	if rapid.Bool().Draw(t, "indexes") {
		m.Next, m.Match = new(rapid.Uint64().Draw(t, "next")), new(rapid.Uint64().Draw(t, "match"))
	}
	return m
}

func drawPending(t *rapid.T) Pending {
	nick := drawNick(t)
	p := Pending{Short: nick, Address: drawAddress(t), Phase: drawPhase(t)}
	if p.Phase == "" {
		p.Extra = " (" + drawWord(t) + ")"
	}
	return p
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

func drawNick(t *rapid.T) string { return rapid.StringMatching(`[0-9a-f]{4}`).Draw(t, "nick") }

func drawWord(t *rapid.T) string { return rapid.StringMatching(`x[A-Za-z_é]{0,9}`).Draw(t, "word") }

func drawAddress(t *rapid.T) string {
	return rapid.StringMatching(`(tcp|ssl):([a-z][a-z0-9.-]{0,9}|\[[0-9a-f:]{2,20}\]):[1-5][0-9]{0,4}`).Draw(t, "address")
}

func drawRef(t *rapid.T) Ref {
	return rapid.SampledFrom([]Ref{Self, UnknownRef, Ref(drawNick(t))}).Draw(t, "ref")
}

func drawPhase(t *rapid.T) Phase {
	return rapid.SampledFrom([]Phase{"", AddingCatchup, AddingCaughtUp, AddingCommitting, RemovingPhase}).Draw(t, "phase")
}

func drawMillis(t *rapid.T) time.Duration {
	return time.Duration(rapid.Uint64Max(maxMillis).Draw(t, "ms")) * time.Millisecond
}

// drawSome is nil if empty, as after Parse.
func drawSome[T any](t *rapid.T, label string, draw func(*rapid.T) T) []T {
	var some []T
	for range rapid.IntRange(0, 4).Draw(t, label) {
		some = append(some, draw(t))
	}
	return some
}

// FuzzParse shows that Parse never panics, that its errors are short and of one type, and that it loses nothing of an
// accepted text.
func FuzzParse(f *testing.F) {
	statuses, others := captures(f)
	for _, name := range append(statuses, others...) {
		f.Add(capture(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := Parse(text)
		if err != nil {
			var refused *ParseError
			if !errors.As(err, &refused) {
				t.Fatalf("%T instead of *ParseError", err)
			}
			// At most a line and one of its values are quoted, each byte as four or fewer.
			if len(err.Error()) > 10*maxQuoted {
				t.Fatalf("error of %d bytes", len(err.Error()))
			}
			return
		}
		rendered := first.String()
		if rendered != strings.TrimSuffix(text, "\n")+"\n" {
			t.Fatalf("lost something:\n%q\nbecame\n%q", text, rendered)
		}
		second, err := Parse(rendered)
		if err != nil {
			t.Fatalf("cannot read what was rendered: %v", err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("not the same status:\n%#v\nbecame\n%#v", first, second)
		}
	})
}
