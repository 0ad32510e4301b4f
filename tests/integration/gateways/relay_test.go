package gateways

import (
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// relay sits between the program and both databases, and sees each transaction that would change something.
type relay struct {
	// before is called before the database gets such a transaction, with its number, from 1 on. It returns the
	// transaction's fate.
	before func(number int) fate
	// ended is called when the program is killed; it may be nil.
	ended func()

	mutex  sync.Mutex
	number int
	dead   bool
	open   []net.Conn
}

// fate is the fate of a transaction and of the program. If the program is killed, its connections end and it gets no
// new ones.
type fate int

const (
	passes fate = iota
	// killedBefore kills the program before the database gets the transaction.
	killedBefore
	// killedAfter kills the program after the transaction, before it gets the answer.
	killedAfter
	// unanswered ends the connection after the transaction, before the answer: the program may connect again.
	unanswered
)

// relayTo starts a relay to a cloud's databases, and makes a service use it.
func (c *cloud) relayTo(t *testing.T, s *gateway.Service, r *relay) {
	t.Helper()
	dir := t.TempDir()
	listen := func(name, to string) []string {
		at := dir + "/" + name
		listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", at)
		require.NoError(t, err)
		t.Cleanup(func() {
			_ = listener.Close()
			r.kill()
		})
		go func() {
			for {
				client, err := listener.Accept()
				if err != nil {
					return
				}
				server, err := new(net.Dialer).DialContext(t.Context(), "unix", to)
				if err != nil || !r.keep(client, server) {
					_ = client.Close()
					continue
				}
				link := &link{relay: r, client: client, server: server}
				go link.requests()
				go link.answers()
			}
		}()
		return []string{"unix:" + at}
	}
	s.NB = listen("nb", c.servers["nb"].Paths.Socket(ovndb.NB))
	s.SB = listen("sb", c.servers["sb"].Paths.Socket(ovndb.SB))
}

// keep records connections, so that kill can end them together. They end at once if the program is already dead.
func (r *relay) keep(connections ...net.Conn) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.dead {
		for _, c := range connections {
			_ = c.Close()
		}
		return false
	}
	r.open = append(r.open, connections...)
	return true
}

func (r *relay) kill() {
	if r.ended != nil {
		r.ended()
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.dead = true
	for _, c := range r.open {
		_ = c.Close()
	}
	r.open = nil
}

func (r *relay) next() fate {
	r.mutex.Lock()
	r.number++
	number := r.number
	r.mutex.Unlock()
	return r.before(number)
}

type link struct {
	relay          *relay
	client, server net.Conn
	mutex          sync.Mutex
	// last is the ID of the request whose answer the program does not get; kills reports whether the program is killed
	// then.
	last  string
	kills bool
}

// message is a message of JSON-RPC (RFC 7047, section 4).
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// writes reports whether a request would change something.
func (m message) writes() bool {
	var params []json.RawMessage
	if m.Method != "transact" || json.Unmarshal(m.Params, &params) != nil {
		return false
	}
	return slices.ContainsFunc(params, func(p json.RawMessage) bool {
		var o struct{ Op string }
		_ = json.Unmarshal(p, &o) // the name of the database is no operation
		return slices.Contains([]string{"insert", "update", "mutate", "delete"}, o.Op)
	})
}

func (l *link) requests() {
	l.each(l.client, func(m message, raw json.RawMessage) error {
		if m.writes() {
			switch at := l.relay.next(); at {
			case killedBefore:
				l.relay.kill()
				return errors.New("killed")
			case killedAfter, unanswered:
				l.mutex.Lock()
				l.last, l.kills = string(m.ID), at == killedAfter
				l.mutex.Unlock()
			case passes:
			}
		}
		_, err := l.server.Write(raw)
		return err
	})
}

func (l *link) answers() {
	l.each(l.server, func(m message, raw json.RawMessage) error {
		l.mutex.Lock()
		last, kills := l.last, l.kills
		l.mutex.Unlock()
		if last != "" && m.Method == "" && string(m.ID) == last {
			if kills {
				l.relay.kill()
			}
			return errors.New("killed")
		}
		_, err := l.client.Write(raw)
		return err
	})
}

// each calls do with each message, until the connection ends.
func (l *link) each(from net.Conn, do func(message, json.RawMessage) error) {
	defer l.client.Close()
	defer l.server.Close()
	for decoder := json.NewDecoder(from); ; {
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return
		}
		var m message
		if json.Unmarshal(raw, &m) != nil || do(m, raw) != nil {
			return
		}
	}
}
