package ovsctl

import (
	"sync"
	"syscall"
)

// StateCache is what ovsdb-tool said of files. A database's file only grows or is
// replaced, so that what has the same inode, size and time has the same in it,
// whatever it is called by now. The zero value is ready to use, by one process.
type StateCache struct {
	mu  sync.Mutex
	all map[stateKey]answer
}

type stateKey struct {
	command             string
	device, inode       uint64
	size, seconds, nano int64
}

type answer struct {
	out string
	err error
}

// once asks only if the answer is not known. One that was cut off by a deadline
// is not kept.
func (a *StateCache) once(command, path string, ask func() (string, error)) (string, error) {
	var stat syscall.Stat_t
	if a == nil || syscall.Stat(path, &stat) != nil {
		return ask()
	}
	q := stateKey{command, stat.Dev, stat.Ino, stat.Size, stat.Mtim.Sec, stat.Mtim.Nsec}
	a.mu.Lock()
	known, found := a.all[q]
	a.mu.Unlock()
	if found {
		return known.out, known.err
	}
	out, err := ask()
	if err == nil || exitCode(err) >= 0 {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.all == nil {
			a.all = map[stateKey]answer{}
		}
		a.all[q] = answer{out, err}
	}
	return out, err
}
