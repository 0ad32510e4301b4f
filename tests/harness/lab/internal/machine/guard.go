package machine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// The names by which the lab's program plays the guard of a lab, and the init of a machine, whose
// directory is the argument.
const (
	guardName = "ovn-lab-guard"
	initName  = "ovn-lab-init"
)

// Clean kills every process that the lab in dir started. Once isn't enough: a
// hook that is being killed may just have started one more.
func Clean(dir string) error {
	for range 2 {
		files, err := filepath.Glob(filepath.Join(dir, "*", fileName))
		if err != nil {
			return err
		}
		var errs []error
		for _, file := range files {
			m, err := Load(filepath.Dir(file))
			if err == nil {
				err = m.KillAll()
			}
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("cannot clean up the lab: %w", err)
		}
	}
	return nil
}

// Guard is a process that outlives its owner only to clean up after it.
type Guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// StartGuard starts program as the guard of the lab in dir. When this process
// ends without [Guard.Release], the guard kills what the lab started, and
// removes dir.
func StartGuard(program, dir string) (*Guard, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start the guard: %w", err)
	}
	defer read.Close()
	cmd := exec.Command(program, dir)
	cmd.Args[0] = guardName
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil, fmt.Errorf("cannot start the guard: %w", err)
	}
	return &Guard{cmd, write}, nil
}

// Release ends the guard without letting it clean up.
func (g *Guard) Release() error {
	_, err := g.pipe.Write([]byte{'.'})
	g.pipe.Close()
	return errors.Join(err, g.cmd.Wait())
}

// guardMain is the guard: it waits on its input for the owner's end.
func guardMain(dir string) int {
	if n, _ := io.ReadFull(os.Stdin, make([]byte, 1)); n == 1 {
		return 0
	}
	if err := errors.Join(Clean(dir), os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure
	}
	return 0
}
