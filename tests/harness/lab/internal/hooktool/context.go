package hooktool

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Context is what one hook or action sees and changes while it runs. It holds back writes to relations and ports
// until [Context.Commit]. Statuses and leadership settings are written at once, as in Juju.
type Context struct {
	ID     string
	Model  *model.Model
	Unit   string
	Hook   model.Hook
	Action *Action // nil in hooks
	// Log gets juju-log's lines.
	Log func(level, message string)
	// Charm is what the charm declares.
	Charm Charm

	mu        sync.Mutex // one tool runs at a time, as in Juju
	app       string
	since36   bool // the Juju is 3.6, or later
	relations map[int]*relation
	ended     bool
	ports     ports
}

// Charm has the parts of a charm's metadata that tools check.
type Charm struct {
	Bindings []string       // endpoints and extra bindings
	Requires []string       // the endpoints that the other side provides
	Options  map[string]any // of config.yaml: nil if no value is set
}

// Action is the action that a context runs.
type Action struct {
	Params  map[string]any
	Results map[string]any
	Log     []string
	Failed  bool
	Message string
}

type relation struct {
	id        int
	name      string
	remote    string // the application on the other side
	peer      bool
	members   []string
	broken    bool
	unit, bag *pending                     // own data, the application's data
	apps      map[string]map[string]string // by application
	others    map[string]map[string]string // by unit
}

type pending struct {
	now     map[string]string
	changes map[string]string
}

func (p *pending) set(key, value string) {
	if value == "" {
		delete(p.now, key)
	} else {
		p.now[key] = value
	}
	p.changes[key] = value
}

// New returns the context of a hook on a unit (or, with the zero Hook, of an action), from what the unit's agent
// knows now.
func New(m *model.Model, unit string, h model.Hook) *Context {
	c := &Context{Model: m, Unit: unit, Hook: h, relations: map[int]*relation{}, Log: func(string, string) {}}
	m.Do(func(s *model.State) {
		u := s.Units[unit]
		c.app, c.since36 = s.App, s.Since(3, 6)
		if u == nil {
			c.ended = true
			return
		}
		c.ports.now = slices.Clone(u.Ports)
		for id, membership := range u.Uniter.Relations {
			stored := s.Relation(id)
			r := &relation{
				id: id, name: stored.Name, peer: stored.Peer(), remote: cmp.Or(stored.Remote, s.App),
				apps: map[string]map[string]string{}, others: map[string]map[string]string{},
			}
			// Since Juju 3.6, a dying relation isn't listed once all members have departed.
			r.broken = c.since36 && !r.peer && stored.Dying && len(membership.Members) == 0
			members := maps.Clone(membership.Members)
			if h.RelationID == id && h.RemoteUnit != "" {
				members[h.RemoteUnit] = 0
				if h.Departing != "" {
					delete(members, h.RemoteUnit)
				}
			}
			r.members = slices.Sorted(maps.Keys(members))
			c.relations[id] = r
		}
	})
	return c
}

type call struct {
	*Context
	request Request
	stdout  bytes.Buffer
}

// errNeedStdin ends a call that must be repeated with its input.
var errNeedStdin = errors.New("the tool's input is needed")

// Run runs one tool. Exit codes are Juju's: 1 for an error of the run, 2 for one of the arguments.
func (c *Context) Run(request Request) Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	tool := tools[request.Name]
	if tool == nil {
		return refusal(fmt.Errorf("bad request: unknown command: %s", request.Name))
	}
	if c.ended {
		return refusal(errPermission)
	}
	if request.Context != c.ID {
		return refusal(fmt.Errorf("bad request: wrong context ID; got %q", request.Context))
	}
	this := &call{Context: c, request: request}
	err := tool(this)
	switch {
	case errors.Is(err, errNeedStdin):
		return Response{Wants: WantsStdin}
	case err != nil:
		return refusal(err)
	}
	return Response{Stdout: this.stdout.String()}
}

func refusal(err error) Response {
	code := 1
	if errors.As(err, new(errUsage)) {
		code = 2
	}
	return Response{Code: code, Stderr: fmt.Sprintf("ERROR %v\n", err)}
}

// Commit writes what was held back. Juju does so only after the hook or action has exited with 0.
func (c *Context) Commit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	leads := c.isLeader() // the new leader may write what the old one set
	c.Model.Do(func(s *model.State) {
		for _, r := range c.relations {
			stored := s.Relation(r.id)
			if stored == nil {
				continue
			}
			if r.unit != nil && stored.Units[c.Unit] != nil {
				stored.Units[c.Unit].Write(r.unit.changes)
			}
			if r.bag != nil && leads {
				stored.App.Write(r.bag.changes)
			}
		}
		u := s.Units[c.Unit]
		u.Ports = c.ports.after()
	})
}

// End makes all tools refuse, and drops all writes: the unit has left the model.
func (c *Context) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// Ended reports whether the unit has left the model.
func (c *Context) Ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *Context) isLeader() (leader bool) {
	c.Model.Do(func(s *model.State) { leader = s.Leader == c.Unit })
	return leader
}
