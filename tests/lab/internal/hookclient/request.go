// Package hookclient is what a hook tool of the lab is for its hook: it sends its
// arguments over the socket that the hook's environment names, and prints what the lab
// answers (package hooktool).
//
// A hook calls dozens of tools, and each is a process whose start costs more than the
// call. So most labs have a program in C in its place, tests/lab/hooktool, which does the
// same, and has the lab run some of the machine's stand-ins too.
package hookclient

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

// Environment that names the socket, and the hook that the tool is run by.
const (
	ContextVariable = "JUJU_CONTEXT_ID"
	SocketVariable  = "JUJU_AGENT_SOCKET_ADDRESS"
)

// CallReport is the name under which programs that aren't hook tools, such as
// systemctl, tell the lab that the charm is about to run them.
const CallReport = "!call"

// StandIn is the name under which the program in C, called as systemctl or another
// program that isn't a hook tool, has the lab do what that does. The arguments are those
// of a CallReport: the program's name, and what it was called with.
const StandIn = "!stand-in"

// InC is the program in C, beside the one that plays all that a machine has.
func InC(program string) string { return program + "-hook-tool" }

// Request is what a client sends.
type Request struct {
	Context, Dir, Name string
	Args               []string
	// Stdin is nil until the answer asked for it.
	Stdin *string
}

// Call is what the charm called, in words.
func (r *Request) Call() string {
	words := r.Args
	if r.Name != CallReport && r.Name != StandIn {
		words = append([]string{r.Name}, words...)
	}
	return strings.Join(words, " ")
}

// Response is the answer to a Request.
type Response struct {
	Code           int
	Stdout, Stderr string
	NeedStdin      bool
}

// errFormat is a message that isn't whole, or none of this package.
var errFormat = errors.New("the message is not of a hook tool, or not whole")

// Marshal is the request as it is sent.
func (r *Request) Marshal() []byte {
	fields := []string{r.Context, r.Dir, r.Name, "", ""}
	if r.Stdin != nil {
		fields[3], fields[4] = "stdin", *r.Stdin
	}
	return marshal(append(fields, r.Args...))
}

// Unmarshal reads what Marshal made, all of it.
func (r *Request) Unmarshal(text []byte) error {
	fields, err := unmarshal(text)
	if err != nil || len(fields) < 5 {
		return errFormat
	}
	*r = Request{Context: fields[0], Dir: fields[1], Name: fields[2], Args: fields[5:]}
	if fields[3] != "" {
		r.Stdin = &fields[4]
	}
	return nil
}

// Marshal is the response as it is sent.
func (r *Response) Marshal() []byte {
	need := ""
	if r.NeedStdin {
		need = "stdin"
	}
	return marshal([]string{strconv.Itoa(r.Code), r.Stdout, r.Stderr, need})
}

// Unmarshal reads what Marshal made, all of it. A text that ends early is [io.EOF]: the
// other side is no longer there.
func (r *Response) Unmarshal(text []byte) error {
	fields, err := unmarshal(text)
	if err != nil || len(fields) < 4 {
		return io.EOF
	}
	code, err := strconv.Atoi(fields[0])
	if err != nil {
		return errFormat
	}
	*r = Response{code, fields[1], fields[2], fields[3] != ""}
	return nil
}

// marshal puts each field behind its length, as a netstring (D. J. Bernstein, 1997)
// without its comma.
func marshal(fields []string) (text []byte) {
	for _, field := range fields {
		text = strconv.AppendInt(text, int64(len(field)), 10)
		text = append(text, ':')
		text = append(text, field...)
	}
	return text
}

func unmarshal(text []byte) (fields []string, err error) {
	for rest := string(text); rest != ""; {
		length, behind, found := strings.Cut(rest, ":")
		n, err := strconv.Atoi(length)
		if !found || err != nil || n < 0 || n > len(behind) {
			return nil, errFormat
		}
		fields, rest = append(fields, behind[:n]), behind[n:]
	}
	return fields, nil
}
