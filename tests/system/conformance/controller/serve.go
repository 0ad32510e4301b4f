package controller

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/juju/juju/rpc/params"
)

// Socket is the controller's socket in its directory.
const Socket = "controller.sock"

// handler serves agents (/call) and the test that drives the model (/do/VERB): the README has the verbs.
func (c *Controller) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /call", func(w http.ResponseWriter, r *http.Request) {
		var request Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		write(w, http.StatusOK, c.call(r.Context(), request))
	})
	mux.HandleFunc("POST /do/{verb}", func(w http.ResponseWriter, r *http.Request) {
		do := verbs[r.PathValue("verb")]
		if do == nil {
			write(w, http.StatusNotFound, failure{fmt.Sprintf("no such verb: %q", r.PathValue("verb"))})
			return
		}
		var a arguments
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			write(w, http.StatusBadRequest, failure{err.Error()})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.timeout())
		defer cancel()
		answer, err := do(ctx, c, a)
		if err != nil {
			write(w, http.StatusConflict, failure{err.Error()})
			return
		}
		if answer == nil {
			answer = struct{}{}
		}
		write(w, http.StatusOK, answer)
	})
	return mux
}

type failure struct {
	Error string `json:"error"`
}

func write(w http.ResponseWriter, code int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(`{"error":"the answer is not JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text) // a program that has ended needs no answer
}

// Serve serves on the controller's socket until ctx ends. It closes ready, which may be nil, when it listens.
func (c *Controller) Serve(ctx context.Context, ready chan<- struct{}) error {
	listener, err := net.Listen("unix", filepath.Join(c.dir, Socket))
	if ready != nil {
		close(ready)
	}
	if err != nil {
		return err
	}
	server := &http.Server{Handler: c.handler(), ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// Remote is the connection of an agent to a controller's socket.
type Remote struct{ client *http.Client }

// Dial makes a [Remote] of the socket in a controller's directory.
func Dial(dir string) *Remote {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(dir, Socket))
	}
	return &Remote{&http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 64}}}
}

// Call makes a call of the API.
func (r *Remote) Call(ctx context.Context, request Request) (response Response) {
	text, err := json.Marshal(request)
	if err == nil {
		err = r.post(ctx, text, &response)
	}
	if err != nil {
		return Response{Error: &params.Error{Message: err.Error()}}
	}
	return response
}

func (r *Remote) post(ctx context.Context, text []byte, answer *Response) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://controller/call", bytes.NewReader(text))
	if err != nil {
		return err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

type arguments struct {
	Unit      string            `json:"unit"`
	Units     int               `json:"units"`
	Addresses []string          `json:"addresses"`
	Values    map[string]string `json:"values"`
	Data      map[string]string `json:"data"`
	Endpoint  string            `json:"endpoint"`
	App       string            `json:"app"`
	Relation  int               `json:"relation"`
	Action    string            `json:"action"`
	Args      []string          `json:"args"`
	Charm     string            `json:"charm"`
	Force     bool              `json:"force"`
	Timeout   string            `json:"timeout"`
}

const defaultTimeout = 10 * time.Minute

func (a arguments) timeout() time.Duration {
	if d, err := time.ParseDuration(a.Timeout); err == nil {
		return d
	}
	return defaultTimeout
}

type verb func(ctx context.Context, c *Controller, a arguments) (any, error)

// simply is a verb that only does something.
func simply(f func(c *Controller, a arguments) error) verb {
	return func(_ context.Context, c *Controller, a arguments) (any, error) { return nil, f(c, a) }
}

var verbs = map[string]verb{
	"add-unit": func(_ context.Context, c *Controller, a arguments) (any, error) {
		unit, err := c.AddUnit(a.Addresses...)
		return map[string]string{"unit": unit}, err
	},
	"config":             simply(func(c *Controller, a arguments) error { return c.Configure(a.Values) }),
	"leader-settings":    simply(func(c *Controller, a arguments) error { return c.SetLeaderSettings(a.Values) }),
	"set-leader":         simply(func(c *Controller, a arguments) error { return c.SetLeader(a.Unit) }),
	"remove-unit":        simply(func(c *Controller, a arguments) error { return c.RemoveUnit(a.Unit, a.Force) }),
	"remove-application": simply(func(c *Controller, _ arguments) error { return c.RemoveApplication() }),
	"refresh":            simply(func(c *Controller, a arguments) error { return c.Refresh(a.Charm) }),
	"update-status":      simply(func(c *Controller, a arguments) error { return c.UpdateStatus(a.Unit) }),
	"remote-set":         simply(func(c *Controller, a arguments) error { return c.RemoteSet(a.Relation, a.Unit, a.Data) }),
	"set-data":           simply(func(c *Controller, a arguments) error { return c.SetData(a.Relation, a.Unit, a.Data) }),
	"relate": func(_ context.Context, c *Controller, a arguments) (any, error) {
		id, err := c.Relate(a.Endpoint, a.App, cmp.Or(a.Units, 1))
		return map[string]int{"relation": id}, err
	},
	"run": func(ctx context.Context, c *Controller, a arguments) (any, error) {
		given, err := Params(a.Unit, a.Action, a.Args)
		if err != nil {
			return nil, err
		}
		return c.Run(ctx, a.Unit, a.Action, given)
	},
	"data":   func(_ context.Context, c *Controller, a arguments) (any, error) { return c.Data(a.Relation) },
	"status": func(_ context.Context, c *Controller, _ arguments) (any, error) { return c.Status(), nil },
	"settled": func(ctx context.Context, c *Controller, _ arguments) (any, error) {
		failed, err := c.Settled(ctx)
		return map[string]any{"errors": failed}, err
	},
}

// RelationData has the data that our side has published on a relation: the application, and its units in the
// relation.
type RelationData struct {
	App   map[string]string            `json:"app"`
	Units map[string]map[string]string `json:"units"`
}

// Data returns the data that our side has published on a relation.
func (c *Controller) Data(id int) (RelationData, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.state.relation(id)
	if r == nil {
		return RelationData{}, fmt.Errorf("relation %d not found", id)
	}
	data := RelationData{App: maps.Clone(r.App.Settings), Units: map[string]map[string]string{}}
	for unit, bag := range r.Units {
		if bag.InScope {
			data.Units[unit] = maps.Clone(bag.Settings)
		}
	}
	return data, nil
}
