// Command juju-hook-tool is the hook tool by whose name it is called. Like Juju's jujuc it only asks the agent. Jujuc
// is jujud, which loads all of Juju for each of the dozens of tools that a hook calls.
package main

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
)

// request is jujuc.Request as net/rpc encodes it, by the names of its fields.
type request struct {
	ContextId, Dir, CommandName string //nolint:revive,staticcheck // Juju's names
	Args                        []string
	StdinSet                    bool
	Stdin                       []byte
}

type response struct {
	Code           int
	Stdout, Stderr []byte
}

// question and answer come before them (Request and Response of net/rpc, which itself has an HTTP server to load).
type (
	question struct {
		ServiceMethod string
		Seq           uint64
	}
	answer struct {
		ServiceMethod string
		Seq           uint64
		Error         string
	}
)

const noStdin = "hook tool requires stdin, none supplied"

func main() {
	code, err := ask(filepath.Base(os.Args[0]), os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "ERROR %v\n", err)
		code = 1
	}
	os.Exit(code)
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
	connection, err := net.Dial(os.Getenv("JUJU_AGENT_SOCKET_NETWORK"), os.Getenv("JUJU_AGENT_SOCKET_ADDRESS"))
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	out, in := gob.NewEncoder(connection), gob.NewDecoder(connection)
	r := request{ContextId: os.Getenv("JUJU_CONTEXT_ID"), Dir: dir, CommandName: name, Args: args}
	got, err := call(out, in, 1, r)
	if err != nil && err.Error() == noStdin {
		if r.Stdin, err = io.ReadAll(os.Stdin); err != nil {
			return 0, err
		}
		r.StdinSet = true
		got, err = call(out, in, 2, r)
	}
	if err != nil {
		return 0, err
	}
	_, _ = os.Stdout.Write(got.Stdout)
	_, _ = os.Stderr.Write(got.Stderr)
	return got.Code, nil
}

func call(out *gob.Encoder, in *gob.Decoder, n uint64, r request) (got response, err error) {
	if err := errors.Join(out.Encode(question{"Jujuc.Main", n}), out.Encode(r)); err != nil {
		return got, err
	}
	var a answer
	if err := in.Decode(&a); err != nil {
		return got, err
	}
	if a.Error != "" {
		var discarded any // nil: gob reads the value and throws it away
		if err := in.Decode(discarded); err != nil {
			return got, err
		}
		return got, errors.New(a.Error)
	}
	return got, in.Decode(&got)
}
