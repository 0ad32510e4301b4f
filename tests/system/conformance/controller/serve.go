package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/juju/juju/rpc/params"
)

// Socket is the controller's socket in its directory.
const Socket = "controller.sock"

// Handler serves agents (/call) and the test that drives the model (/do/VERB): the
// README has the verbs.
func (c *Controller) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /call", func(w http.ResponseWriter, r *http.Request) {
		var request Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		write(w, http.StatusOK, c.Call(r.Context(), request))
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

// Serve serves on the socket in the controller's directory until ctx ends. It
// closes ready, which may be nil, when it can be reached.
func (c *Controller) Serve(ctx context.Context, ready chan<- struct{}) error {
	listener, err := net.Listen("unix", filepath.Join(c.dir, Socket))
	if ready != nil {
		close(ready)
	}
	if err != nil {
		return err
	}
	server := &http.Server{Handler: c.Handler(), ReadHeaderTimeout: time.Minute}
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

// Call implements [Caller].
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
