package hooktool

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server answers clients as answer says, which gets what was sent.
func server(t *testing.T, answer func(text []byte) []byte) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			text, _ := io.ReadAll(connection)
			_, _ = connection.Write(answer(text))
			connection.Close()
		}
	}()
	return socket
}

// newClient is the client, with a shell as the program beside it.
func newClient(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.Symlink("/bin/sh", program))
	said, err := exec.CommandContext(t.Context(), "cc", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-o", Client(program), "../../hooktool/hooktool.c").CombinedOutput()
	require.NoError(t, err, "%s", said)
	return Client(program)
}

func TestRequest_round_trip(t *testing.T) {
	t.Parallel()
	program := newClient(t)
	stdin, empty := strings.Repeat("key: \"a:b\"\n", 1<<17), ""
	for _, want := range []Request{
		{Context: "c", Dir: "/", Name: "is-leader", Args: []string{}},
		{Context: "c", Dir: "/", Name: "systemctl", Args: []string{"is-active", "", "a b"}},
		{Context: "c", Dir: "/", Name: "relation-set", Args: []string{"--file", "-", "", "a=1:2\nü"}, Stdin: &stdin},
		{Context: "c", Dir: "/", Name: "relation-set", Args: []string{"--file", "-"}, Stdin: &empty},
	} {
		answers := Response{Code: 2, Stdout: strings.Repeat("o", 1<<20), Stderr: "ERROR 1:2\n"}
		var got Request
		socket := server(t, func(text []byte) []byte {
			assert.NoError(t, got.Unmarshal(text))
			if want.Stdin != nil && got.Stdin == nil {
				return (&Response{Wants: WantsStdin}).Marshal()
			}
			return answers.Marshal()
		})
		tool := exec.CommandContext(t.Context(), program, want.Args...)
		tool.Args[0], tool.Dir, tool.Stdin = "/tools/"+want.Name, want.Dir, strings.NewReader(stdin)
		tool.Env = []string{ContextVariable + "=" + want.Context, SocketVariable + "=" + socket}
		if want.Stdin != nil {
			tool.Stdin = strings.NewReader(*want.Stdin)
		}
		var out, errs bytes.Buffer
		tool.Stdout, tool.Stderr = &out, &errs
		_ = tool.Run() // its exit code is that of the answer
		assert.Equal(t, Response{Code: tool.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String()}, answers)
		assert.Equal(t, want, got)
		assert.Equal(t, strings.Join(append([]string{want.Name}, want.Args...), " "), got.Call())
	}
}

// A hook that is to be killed gets no answer, or the beginning of one: nothing may be done.
func TestRequest_connection_ends_without_answer(t *testing.T) {
	t.Parallel()
	program := newClient(t)
	whole := (&Response{Stdout: "12345"}).Marshal()
	for n := range whole {
		tool := exec.CommandContext(t.Context(), program, "-c", "echo done")
		tool.Env = []string{ContextVariable + "=c", SocketVariable + "=" + server(t, func([]byte) []byte { return whole[:n] })}
		said, err := tool.CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(said), ": EOF\n", "%q", whole[:n])
		assert.NotContains(t, string(said), "done")
	}
	for _, text := range []string{"99999999999999999999:", "-1:", "1", "1:ab", ":", "5:12345"} {
		require.Error(t, new(Request).Unmarshal([]byte(text)), text)
	}
}
