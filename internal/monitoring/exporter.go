package monitoring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// snap is the exporter: greenpau's ovn_exporter 1.0.7 as
// canonical/snap-prometheus-ovn-exporter packs it. It serves on port 9476.
const snap = "prometheus-ovn-exporter"

// What bounds calls of snap. One that only asks or switches takes a second; one that
// speaks with the store downloads about 10 MB, and gives up by itself after a
// minute or so where there is no way to it.
const (
	snapTimeout  = 30 * time.Second
	storeTimeout = 3 * time.Minute
)

// plugs are the rights that the exporter needs and that snapd gives to none by
// itself. Source: layer.yaml of the charm before this one.
var plugs = []string{
	"network-bind", "kernel-module-observe", "netlink-audit", "log-observe", "network-observe", "openvswitch",
	"system-observe", "etc-openvswitch", "run-openvswitch", "run-ovn",
}

// risks are the channels of a track (snapcraft's "Channels").
var risks = []string{"stable", "candidate", "beta", "edge"}

// ErrNoSnapd says that the machine has no snapd, so that it can have no exporter.
var ErrNoSnapd = errors.New("snapd is not installed, without which there is no exporter; set ovn-exporter-channel to \"\" to do without")

// Channel is the risk that the option ovn-exporter-channel means: what stands
// after its last slash, or stable where that is none. Empty means no exporter. The
// charm before this one read it so.
func Channel(option string) string {
	if option == "" {
		return ""
	}
	risk := option[strings.LastIndex(option, "/")+1:]
	if !slices.Contains(risks, risk) {
		return "stable"
	}
	return risk
}

// Exporter is the snap that serves metrics.
type Exporter struct{ Runner run.Runner }

// Ensure makes the snap follow channel, one that [Channel] gives: installs it, moves
// it there, or removes it where channel is empty; connects its plugs; and sees that
// it runs, unless an operator has disabled it. A snap that was installed from a file
// follows no channel and is left where it is. It does nothing where all is so
// already: three calls of snap. installed says whether the snap is there, also
// beside an error. Without snapd the error is [ErrNoSnapd].
func (e Exporter) Ensure(ctx context.Context, channel string) (installed bool, err error) {
	tracking, installed, err := e.tracking(ctx)
	switch {
	case errors.Is(err, ErrNoSnapd) && channel == "":
		return false, nil
	case err != nil:
		return false, err
	case channel == "" && !installed:
		return false, nil
	case channel == "":
		err := e.store(ctx, "remove", snap)
		return err != nil, err
	case !installed:
		if err := e.store(ctx, "install", "--channel="+channel, snap); err != nil {
			return false, err
		}
	case tracking != "-" && !slices.Contains(strings.Split(tracking, "/"), channel):
		if err := e.store(ctx, "refresh", "--channel="+channel, snap); err != nil {
			return true, err
		}
	}
	if err := e.connect(ctx); err != nil {
		return true, err
	}
	return true, e.start(ctx)
}

// tracking is the channel that the snap follows, as latest/stable; a dash where it
// was installed from a file.
func (e Exporter) tracking(ctx context.Context) (channel string, installed bool, err error) {
	rows, err := e.table(ctx, "list", snap)
	if failed := (*run.Error)(nil); errors.As(err, &failed) && strings.Contains(failed.Stderr, "no matching snaps installed") {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	for _, row := range rows { // Name Version Rev Tracking Publisher Notes
		if len(row) > 3 && row[0] == snap {
			return row[3], true, nil
		}
	}
	return "", false, fmt.Errorf("cannot find out whether %s is installed: snap list does not name it", snap)
}

// connect connects the plugs that are not. The exporter is stopped for it, since a
// process keeps the system calls that it was started with; as long as it is
// stopped, the next hook knows that there is something to finish.
func (e Exporter) connect(ctx context.Context) error {
	rows, err := e.table(ctx, "connections", snap)
	if err != nil {
		return err
	}
	stopped := false
	for _, row := range rows { // Interface Plug Slot Notes
		if len(row) < 3 || row[2] != "-" {
			continue
		}
		owner, plug, _ := strings.Cut(row[1], ":")
		if owner != snap || !slices.Contains(plugs, plug) {
			continue
		}
		if !stopped {
			if _, err := e.snap(ctx, snapTimeout, "stop", snap); err != nil {
				return err
			}
			stopped = true
		}
		if _, err := e.snap(ctx, snapTimeout, "connect", row[1], ":"+row[0]); err != nil {
			return err
		}
	}
	return nil
}

func (e Exporter) start(ctx context.Context) error {
	rows, err := e.table(ctx, "services", snap)
	if err != nil {
		return err
	}
	for _, row := range rows { // Service Startup Current Notes
		if len(row) > 2 && row[1] == "enabled" && row[2] == "inactive" {
			_, err := e.snap(ctx, snapTimeout, "start", snap)
			return err
		}
	}
	return nil
}

// table is what snap writes in columns, without their names.
func (e Exporter) table(ctx context.Context, args ...string) ([][]string, error) {
	out, err := e.snap(ctx, snapTimeout, args...)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for i, line := range strings.Split(string(out), "\n") {
		if fields := strings.Fields(line); i > 0 && len(fields) > 0 {
			rows = append(rows, fields)
		}
	}
	return rows, nil
}

func (e Exporter) store(ctx context.Context, args ...string) error {
	_, err := e.snap(ctx, storeTimeout, args...)
	return err
}

func (e Exporter) snap(ctx context.Context, timeout time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	command := run.Command{Name: "snap", Args: args}
	out, err := e.Runner.Run(ctx, command)
	switch {
	case run.Missing(err):
		return nil, ErrNoSnapd
	case err != nil:
		return nil, fmt.Errorf("cannot run %s %s: %w", command.Name, args[0], err)
	}
	return out, nil
}
