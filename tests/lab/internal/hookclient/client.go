package hookclient

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// timeout bounds one call of a tool. Real tools have no limit; those of the lab answer in
// milliseconds, or their hook is about to be killed.
const timeout = time.Minute

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
		stdin := string(input)
		request.Stdin = &stdin
		response, err = Ask(os.Getenv(SocketVariable), request)
	}
	if err != nil {
		return 0, err
	}
	_, _ = os.Stdout.WriteString(response.Stdout)
	_, _ = os.Stderr.WriteString(response.Stderr)
	return response.Code, nil
}

// Ask sends one request to a lab's socket. A connection that ends without an
// answer is [io.EOF]: the hook is being killed.
func Ask(socket string, request Request) (response Response, err error) {
	connection, err := net.DialTimeout("unix", socket, timeout)
	if err != nil {
		return response, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(timeout)); err != nil {
		return response, err
	}
	text, err := exchange(connection.(*net.UnixConn), request.Marshal()) //nolint:forcetypeassert // of this network
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ENOTCONN) {
		return response, io.EOF
	}
	if err != nil {
		return response, err
	}
	return response, response.Unmarshal(text)
}

// exchange sends a text, says that nothing follows, and reads until nothing follows.
func exchange(connection *net.UnixConn, text []byte) ([]byte, error) {
	if _, err := connection.Write(text); err != nil {
		return nil, err
	}
	if err := connection.CloseWrite(); err != nil {
		return nil, err
	}
	return io.ReadAll(connection)
}
