package agent

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/juju/utils/v3/exec"

	"github.com/juju/juju/juju/sockets"
	"github.com/juju/juju/worker/uniter/runner/jujuc"
)

// Tool plays the hook tool by whose name the program was called, and says whether
// it was one. It does what Juju's jujuc program does: the command itself runs in
// the agent.
func Tool(args []string) (code int, is bool) {
	name := filepath.Base(args[0])
	if !slices.Contains(jujuc.CommandNames(), name) {
		return 0, false
	}
	code, err := ask(name, args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "ERROR %v\n", err)
		return 1, true
	}
	return code, true
}

func ask(name string, args []string) (int, error) {
	for _, variable := range []string{"JUJU_CONTEXT_ID", "JUJU_AGENT_SOCKET_ADDRESS", "JUJU_AGENT_SOCKET_NETWORK"} {
		if os.Getenv(variable) == "" {
			return 0, fmt.Errorf("%s not set", variable)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	client, err := sockets.Dial(sockets.Socket{
		Address: os.Getenv("JUJU_AGENT_SOCKET_ADDRESS"), Network: os.Getenv("JUJU_AGENT_SOCKET_NETWORK"),
	})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	request := jujuc.Request{ContextId: os.Getenv("JUJU_CONTEXT_ID"), Dir: dir, CommandName: name, Args: args}
	var response exec.ExecResponse
	err = client.Call("Jujuc.Main", request, &response)
	if err != nil && err.Error() == jujuc.ErrNoStdin.Error() {
		if request.Stdin, err = io.ReadAll(os.Stdin); err != nil {
			return 0, err
		}
		request.StdinSet = true
		err = client.Call("Jujuc.Main", request, &response)
	}
	if err != nil {
		return 0, err
	}
	_, _ = os.Stdout.Write(response.Stdout)
	_, _ = os.Stderr.Write(response.Stderr)
	return response.Code, nil
}
