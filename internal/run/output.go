package run

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// pipeSize is what a pipe holds at most of what nothing has read yet (pipe(7)).
const pipeSize = 64 << 10

// output is one stream of a program, which is read while the program runs.
//
// A pipe of os/exec's own is closed [killGrace] after the program has ended, read or not: on
// a machine that is too busy to read it by then the answer of a program that ended well would
// be cut short, and nothing would say so.
type output struct {
	read, write *os.File
	to          io.Writer
	copied      chan struct{}
	err         error // of to, once copied is closed
}

// outputTo returns the output that is read into to; its write end is for the program.
func outputTo(to io.Writer) (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &output{read: r, write: w, to: to, copied: make(chan struct{})}, nil
}

// begin reads what is written until nothing has the write end any more. The program has been
// started, or won't be.
func (o *output) begin() {
	_ = o.write.Close()
	go func() {
		defer close(o.copied)
		_, err := io.Copy(o.to, o.read)
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		o.err = err
		_ = o.read.Close() // so that the program does not wait to be read
	}()
}

// end returns once all is read that the program, which has ended, has written. What it has
// started may hold the write end for as long as it likes: it is not waited for.
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

// rest is what is in the pipe now.
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
		err = nil // there is no more
	}
	return rest[:n], errors.Join(failed, err)
}

// runTo runs a program to its end, and reads all that it has written. Into a file it writes
// by itself.
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
			cmd.Err = errors.Join(cmd.Err, err) // so it is not started
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
