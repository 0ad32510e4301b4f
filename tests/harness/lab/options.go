package lab

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
)

// DB is the short name of a database: [ovndb.NorthboundServer] or [ovndb.SouthboundServer].
type DB = machine.DB

// The databases of ovn-central.
const (
	NB = machine.NB
	SB = machine.SB
)

// Databases are both, Northbound first.
var Databases = machine.Databases

// NewerSchema is the version of the schemas that come with a newer version of OVN's packages.
const NewerSchema = machine.NewerSchema

// Options are the options of a lab. Only Charm is required.
type Options struct {
	// Dir is the directory of the lab. It must be new or empty, and have a short path for sockets. Empty means a
	// temporary directory.
	Dir string
	// Charm is a charm's directory (dispatch, metadata.yaml, actions.yaml, config.yaml), copied to each unit.
	Charm string
	// JujuVersion is JUJU_VERSION. The default is LAB_JUJU of the environment, or [Juju3]. Tests set it to [Juju3] if
	// they need what Juju 4 lacks: leader settings, and ovsdb-peer-relation-departed on the units that stay.
	JujuVersion string
	// Quirks are the differences of that Juju from 3.6. If nil, they are all known ones, [QuirksOf]. So a test can have a
	// single one.
	Quirks *Quirks
	// ElectionTimer is the election timer of both databases, in whole milliseconds; 1 s by default.
	ElectionTimer time.Duration
	// Northd runs ovn-northd on every unit that the lab lays out. Without it tests are much faster.
	Northd bool
	// IPv6 gives every machine an address in fd99::/64 in addition to the one in 10.99.0.0/24.
	IPv6 bool
	// Restart starts services again as their units say (Restart=on-failure), with systemd's limit of five starts in 10
	// s. Without it, a server that is killed stays dead.
	Restart bool
	// Log gets the charm's output and log, which are also in DIR/UNIT/hooks.log.
	Log io.Writer
	// HookTimeout is the time after which a hook or action is killed; 5 minutes by default. Juju has no such limit.
	HookTimeout time.Duration
	// Program is the output of [BuildTools]. If empty, this program is used, which must have called [Intercept], and a C
	// compiler is needed.
	Program string
}

// Juju3 and Juju4 are the versions of Juju that tests use.
const (
	Juju3 = "3.6.11"
	Juju4 = "4.0.15"
)

// ApplicationName is the name of the lab's application.
const ApplicationName = "ovn-central"

// retryScale shortens Juju's waits between the tries of a failed hook (5 s to 5 min), and the times of [Quirks].
const retryScale = 0.02

// maxSocketPath is sizeof(sockaddr_un.sun_path) minus the final 0 (unix(7)).
const maxSocketPath = 107

func (o *Options) complete() error {
	o.JujuVersion = cmp.Or(o.JujuVersion, os.Getenv("LAB_JUJU"), Juju3)
	if o.Quirks == nil {
		quirks := QuirksOf(o.JujuVersion)
		o.Quirks = &quirks
	}
	o.ElectionTimer = cmp.Or(o.ElectionTimer, time.Second)
	o.HookTimeout = cmp.Or(o.HookTimeout, 5*time.Minute)
	if os.Geteuid() != 0 {
		return errors.New("its machines have networks of their own, which need root: " +
			"run it as root, or below `unshare --user --map-root-user --net`")
	}
	if o.Program == "" {
		if !intercepted {
			return errors.New("the program didn't call lab.Intercept")
		}
		program, err := os.Executable()
		o.Program = program
		return err
	}
	return nil
}

func (o *Options) makeDir() (err error) {
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "ovn-lab-"); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = os.Remove(o.Dir)
			}
		}()
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	// The longest path: northd's control socket on a unit with a three-digit number.
	if longest := filepath.Join(o.Dir, unitDir(999), "run", "ovn-northd.4194304.ctl"); len(longest) > maxSocketPath {
		return fmt.Errorf("the path of %s is %d bytes too long for sockets", o.Dir, len(longest)-maxSocketPath)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: end the lab there (ovn-lab down), or name another directory", o.Dir)
	}
	return nil
}

func unitDir(number int) string { return fmt.Sprintf("%s-%d", ApplicationName, number) }
