package run

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// pipeSize is the capacity of a pipe (pipe(7)).
const pipeSize = 64 << 10

// output is one stream of a program, which is read while the program runs.
//
// os/exec closes its own pipes [killGrace] after the program has ended, even if they are unread. On a machine that is
// too busy to read in time, a successful program's output would be silently truncated.
type output struct {
	read, write *os.File
	to          io.Writer
	copied      chan struct{}
	err         error // the error of to, valid once copied is closed
}

// outputTo returns an output that is copied to to. Its write end is for the program.
func outputTo(to io.Writer) (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &output{read: r, write: w, to: to, copied: make(chan struct{})}, nil
}

// begin copies until no process has the write end open. Call it once the program has started, or won't be started.
func (o *output) begin() {
	_ = o.write.Close()
	go func() {
		defer close(o.copied)
		_, err := io.Copy(o.to, o.read)
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		o.err = err
		_ = o.read.Close() // the program must not block
	}()
}

// end returns once everything that the ended program has written is read. It does not wait for processes that the
// program has started, although they may keep the write end open.
func (o *output) end() error {
	defer o.read.Close()
	_ = o.read.SetReadDeadline(time.Now().Add(killGrace))
	<-o.copied
	_ = o.read.SetReadDeadline(time.Time{})
	if o.err != nil {
		return o.err
	}
	rest, err := o.rest()
	if err != nil {
		return err
	}
	_, err = o.to.Write(rest)
	return err
}

// rest returns the current content of the pipe.
func (o *output) rest() ([]byte, error) {
	conn, err := o.read.SyscallConn()
	if err != nil {
		return nil, err
	}
	rest := make([]byte, pipeSize)
	n := 0
	failed := conn.Read(func(fd uintptr) bool {
		for n < len(rest) {
			var got int
			if got, err = syscall.Read(int(fd), rest[n:]); errors.Is(err, syscall.EINTR) {
				continue
			}
			if got <= 0 {
				break
			}
			n += got
		}
		return true
	})
	if errors.Is(err, syscall.EAGAIN) {
		err = nil // the pipe is empty
	}
	return rest[:n], errors.Join(failed, err)
}

// runTo runs a program to its end, and reads its whole output. If an output is a file, the program writes to it
// directly.
func runTo(cmd *exec.Cmd, stdout, stderr io.Writer) error {
	var outputs []*output
	for _, stream := range []struct {
		of *io.Writer
		to io.Writer
	}{{&cmd.Stdout, stdout}, {&cmd.Stderr, stderr}} {
		if file, ok := stream.to.(*os.File); ok {
			*stream.of = file
			continue
		}
		o, err := outputTo(stream.to)
		if err != nil {
			cmd.Err = errors.Join(cmd.Err, err) // prevents the start
			break
		}
		*stream.of = o.write
		outputs = append(outputs, o)
	}
	err := cmd.Start()
	for _, o := range outputs {
		o.begin()
	}
	if err == nil {
		err = cmd.Wait()
	}
	for _, o := range outputs {
		err = errors.Join(err, o.end())
	}
	return err
}
