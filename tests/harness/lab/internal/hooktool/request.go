package hooktool

import (
	"errors"
	"strconv"
	"strings"
)

// The environment variables that name the socket, and the hook that runs the tool.
const (
	ContextVariable = "JUJU_CONTEXT_ID"
	SocketVariable  = "JUJU_AGENT_SOCKET_ADDRESS"
)

// Client returns the C program of hook tools (tests/harness/lab/hooktool), beside the Go program.
func Client(program string) string { return program + "-hook-tool" }

// Request is what the client sends.
type Request struct {
	Context, Dir, Name string
	Args               []string
	// Stdin is nil until the answer asked for it.
	Stdin *string
}

// Call returns what the charm called, in words.
func (r *Request) Call() string { return strings.Join(append([]string{r.Name}, r.Args...), " ") }

// What a client must do before it ends; see [Response].Wants.
const (
	WantsStdin = "stdin" // send its input, too
	WantsExec  = "exec"  // become the program that Stdout names
)

// Response is the answer to a Request.
type Response struct {
	Code           int
	Stdout, Stderr string
	Wants          string
}

// errFormat is returned for a message that is incomplete, or has another form.
var errFormat = errors.New("the message is not of a hook tool, or not whole")

// Unmarshal parses a client's message: netstrings (D. J. Bernstein, 1997) without their commas.
func (r *Request) Unmarshal(text []byte) error {
	var fields []string
	for rest := string(text); rest != ""; {
		length, behind, found := strings.Cut(rest, ":")
		n, err := strconv.Atoi(length)
		if !found || err != nil || n < 0 || n > len(behind) {
			return errFormat
		}
		fields, rest = append(fields, behind[:n]), behind[n:]
	}
	if len(fields) < 5 {
		return errFormat
	}
	*r = Request{Context: fields[0], Dir: fields[1], Name: fields[2], Args: fields[5:]}
	if fields[3] != "" {
		r.Stdin = &fields[4]
	}
	return nil
}

// Marshal returns the response in the form on the wire.
func (r *Response) Marshal() (text []byte) {
	for _, field := range []string{strconv.Itoa(r.Code), r.Stdout, r.Stderr, r.Wants} {
		text = append(strconv.AppendInt(text, int64(len(field)), 10), ':')
		text = append(text, field...)
	}
	return text
}
