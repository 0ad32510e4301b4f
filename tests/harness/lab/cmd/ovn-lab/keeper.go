package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
)

// keeperName is the name of the process that keeps a lab from `ovn-lab up` to `ovn-lab down`, and runs every command.
const keeperName = "ovn-lab-keeper"

// part is a part of a command's output, or its end.
type part struct {
	Out, Errors []byte
	Code        *int
}

type ended struct{ code int }

func (e ended) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func socketIn(dir string) string { return filepath.Join(dir, "ovn-lab.socket") }

func (g *global) start(cmd *cobra.Command) error {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	defer theirs.Close()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	keeper := exec.Command(program)
	keeper.Args, keeper.ExtraFiles = []string{keeperName}, []*os.File{theirs}
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := keeper.Start(); err != nil {
		return err
	}
	go func() { _ = keeper.Wait() }()
	theirs.Close() // else its end would not be seen
	connection, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	return g.hand(cmd, connection)
}

// hand sends the command to the keeper and prints its answer. The end of the connection is an interrupt.
func (g *global) hand(cmd *cobra.Command, connection net.Conn) error {
	defer connection.Close()
	if err := json.NewEncoder(connection).Encode(g.args); err != nil {
		return err
	}
	defer context.AfterFunc(cmd.Context(), func() { _ = connection.(*net.UnixConn).CloseWrite() })() //nolint:forcetypeassert // of this network
	for parts := json.NewDecoder(connection); ; {
		var p part
		if err := parts.Decode(&p); err != nil {
			return fmt.Errorf("the lab has ended: %w", err)
		}
		_, _ = cmd.OutOrStdout().Write(p.Out)
		_, _ = cmd.ErrOrStderr().Write(p.Errors)
		if p.Code != nil {
			return ended{*p.Code}
		}
	}
}

// keep is the main function of the keeper.
func keep() int {
	first, err := net.FileConn(os.NewFile(3, "theirs"))
	if err != nil {
		return exitFailure
	}
	g := &global{keeper: true}
	for g.answer(first); g.listener != nil; {
		connection, err := g.listener.Accept()
		if err != nil {
			return 0
		}
		g.answer(connection)
	}
	return exitFailure
}

func (g *global) answer(connection net.Conn) {
	defer connection.Close()
	in, out := json.NewDecoder(connection), json.NewEncoder(connection)
	var args []string
	if in.Decode(&args) != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = in.Decode(new(any)); cancel() }() // nothing follows but the end
	var mu sync.Mutex
	send := func(p part) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(p) // a program that has ended needs no answer
	}
	code := run(ctx, g, args, writer(func(text []byte) { send(part{Out: text}) }), writer(func(text []byte) { send(part{Errors: text}) }))
	send(part{Code: &code})
}

type writer func(text []byte)

// Write implements [io.Writer].
func (w writer) Write(text []byte) (int, error) { w(text); return len(text), nil }
