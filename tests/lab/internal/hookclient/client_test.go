package hookclient

import (
	"bytes"
	"io"
	"net"
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

// inC is the client in C.
func inC(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hooktool")
	said, err := exec.CommandContext(t.Context(), "cc", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-o", program, "../../hooktool/hooktool.c").CombinedOutput()
	require.NoError(t, err, "%s", said)
	return program
}

func TestRequestsAndAnswersArriveAsTheyWereSent(t *testing.T) {
	t.Parallel()
	program := inC(t)
	stdin, empty := strings.Repeat("key: \"a:b\"\n", 1<<17), ""
	for _, want := range []Request{
		{Context: "c", Dir: "/", Name: "is-leader", Args: []string{}},
		{Context: "c", Dir: "/", Name: "relation-set", Args: []string{"--file", "-", "", "a=1:2\nü"}, Stdin: &stdin},
		{Context: "c", Dir: "/", Name: "relation-set", Args: []string{"--file", "-"}, Stdin: &empty},
	} {
		answers := Response{Code: 2, Stdout: strings.Repeat("o", 1<<20), Stderr: "ERROR 1:2\n"}
		var got []Request
		socket := server(t, func(text []byte) []byte {
			var r Request
			assert.NoError(t, r.Unmarshal(text))
			got = append(got, r)
			if want.Stdin != nil && r.Stdin == nil {
				return (&Response{NeedStdin: true}).Marshal()
			}
			return answers.Marshal()
		})
		answer, err := Ask(socket, want)
		require.NoError(t, err)
		assert.Equal(t, answers, answer)

		tool := exec.CommandContext(t.Context(), program, want.Args...)
		tool.Args[0], tool.Dir, tool.Stdin = "/tools/"+want.Name, want.Dir, strings.NewReader(stdin)
		tool.Env = []string{ContextVariable + "=" + want.Context, SocketVariable + "=" + socket}
		if want.Stdin != nil {
			tool.Stdin = strings.NewReader(*want.Stdin)
		}
		var out, errs bytes.Buffer
		tool.Stdout, tool.Stderr = &out, &errs
		_ = tool.Run() // its exit code is that of the answer
		printed := Response{Code: tool.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String()}
		assert.Equal(t, answers, printed)
		assert.Equal(t, want, got[0])
		assert.Equal(t, want, got[len(got)-1])
	}
}

// A hook that is to be killed gets no answer, or the beginning of one.
func TestConnectionThatEndsWithoutAnAnswerIsTheEnd(t *testing.T) {
	t.Parallel()
	program := inC(t)
	whole := (&Response{Stdout: "12345"}).Marshal()
	for n := range whole {
		socket := server(t, func([]byte) []byte { return whole[:n] })
		_, err := Ask(socket, Request{Name: "is-leader"})
		require.ErrorIs(t, err, io.EOF, "%q", whole[:n])

		tool := exec.CommandContext(t.Context(), program)
		tool.Env = []string{ContextVariable + "=c", SocketVariable + "=" + socket}
		said, err := tool.CombinedOutput()
		require.Error(t, err)
		assert.Equal(t, "ERROR EOF\n", string(said), "%q", whole[:n])
	}
	for _, text := range []string{"99999999999999999999:", "-1:", "1", "1:ab", ":", "5:12345"} {
		require.Error(t, new(Request).Unmarshal([]byte(text)), text)
		require.Error(t, new(Response).Unmarshal([]byte(text)), text)
	}
	_, err := Ask(filepath.Join(t.TempDir(), "none"), Request{})
	require.ErrorContains(t, err, "no such file")
	said, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(said), "_ID not set")
}
