package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// flag is something that systemd remembers of a unit. Each is a file, so that
// programs that run at once needn't agree on a common one.
type flag string

const (
	started flag = "started" // systemctl was asked to run it
	masked  flag = "masked"
	enabled flag = "enabled"
)

func (m *Machine) flagFile(unit string, f flag) string {
	return filepath.Join(m.flagDir(), unit+"."+string(f))
}

func (m *Machine) flag(unit string, f flag) bool {
	_, err := os.Stat(m.flagFile(unit, f))
	return err == nil
}

func (m *Machine) setFlag(unit string, f flag, value bool) error {
	if value {
		return os.WriteFile(m.flagFile(unit, f), nil, 0o600)
	}
	if err := os.Remove(m.flagFile(unit, f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lock takes the unit's lock; jobs of one unit run one after another.
func (m *Machine) lock(unit string) (unlock func(), err error) {
	file, err := os.OpenFile(m.flagFile(unit, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}
