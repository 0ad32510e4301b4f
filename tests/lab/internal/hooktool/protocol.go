// Package hooktool is the lab's set of Juju hook tools. A hook calls a tool by
// its name; the tool's client sends its arguments over the socket that the
// hook's environment names, and [Context.Run] answers from the model, with the
// arguments, output formats, error texts and exit codes of Juju 3.6's jujuc.
package hooktool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// Environment that tells a tool whom to ask.
const (
	ContextVariable = "JUJU_CONTEXT_ID"
	SocketVariable  = "JUJU_AGENT_SOCKET_ADDRESS"
)

// callTimeout bounds one call of a tool. Real tools have no limit; those of the
// lab answer in milliseconds, or their hook is about to be killed.
const callTimeout = time.Minute

// CallReport is the name under which programs that aren't hook tools, such as
// systemctl, tell the lab that the charm is about to run them.
const CallReport = "!call"

// Request is what a client sends.
type Request struct {
	Context string   `json:"context"`
	Dir     string   `json:"dir"`
	Name    string   `json:"name"`
	Args    []string `json:"args"`
	// Stdin is nil until the answer asked for it.
	Stdin *[]byte `json:"stdin,omitempty"`
}

// Response is the answer to a Request.
type Response struct {
	Code      int    `json:"code"`
	Stdout    []byte `json:"stdout"`
	Stderr    []byte `json:"stderr"`
	NeedStdin bool   `json:"need_stdin,omitempty"`
}

// Names are the tools that there are. Those that Juju has besides are left out
// (storage, secrets, resources, payloads, credentials, reboot, k8s): a charm
// that calls one finds no such program.
func Names() []string { return slices.Sorted(maps.Keys(tools)) }

// NamesIn are the tools of one Juju: 4 has no leader settings any more (its
// documentation, list of hook commands).
func NamesIn(w model.Ways) []string {
	names := Names()
	if w.NoLeaderSettings {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "leader-get" || name == "leader-set" })
	}
	return names
}

// Main is the client: it runs the tool name with args and returns its exit code.
func Main(name string, args []string) int {
	code, err := askFor(name, args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "ERROR %v\n", err)
		return 1
	}
	return code
}

func askFor(name string, args []string) (int, error) {
	for _, variable := range []string{ContextVariable, SocketVariable} {
		if os.Getenv(variable) == "" {
			return 0, fmt.Errorf("%s not set", variable)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	request := Request{Context: os.Getenv(ContextVariable), Dir: dir, Name: name, Args: args}
	response, err := Ask(os.Getenv(SocketVariable), request)
	if err == nil && response.NeedStdin {
		input, readErr := io.ReadAll(os.Stdin)
		if readErr != nil {
			return 0, readErr
		}
		request.Stdin = &input
		response, err = Ask(os.Getenv(SocketVariable), request)
	}
	if err != nil {
		return 0, err
	}
	_, _ = os.Stdout.Write(response.Stdout)
	_, _ = os.Stderr.Write(response.Stderr)
	return response.Code, nil
}

// Ask sends one request to a lab's socket. A connection that ends without an
// answer is [io.EOF]: the hook is being killed.
func Ask(socket string, request Request) (Response, error) {
	connection, err := net.DialTimeout("unix", socket, callTimeout)
	if err != nil {
		return Response{}, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return Response{}, err
	}
	if err := json.NewEncoder(connection).Encode(request); err != nil {
		return Response{}, err
	}
	var response Response
	if err := json.NewDecoder(connection).Decode(&response); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return Response{}, err
	}
	return response, nil
}
