package dataplane

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// eventually waits until wrong returns an empty text.
func (w *world) eventually(what string, wrong func() string) {
	w.t.Helper()
	w.lasts(what, 0, wrong)
}

// lasts waits until wrong has returned an empty text for a while.
func (w *world) lasts(what string, long time.Duration, wrong func() string) {
	w.t.Helper()
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	begun, since := time.Now(), time.Now()
	for {
		problem := wrong()
		switch {
		case problem != "":
			since = time.Now()
		case time.Since(since) >= long:
			return
		}
		if time.Since(begun) > patience {
			require.Fail(w.t, what+": not so, or not for long: "+problem)
		}
		<-tick.C
	}
}

// settles waits until each port is on its chassis and its router answers from there, and this lasts.
func (w *world) settles(want places) {
	w.t.Helper()
	begun := time.Now()
	w.lasts("gateways are in their places", hold, func() string {
		if bound := w.bound(); !maps.Equal(bound, want) {
			if time.Since(begun) > patience/3 && w.recomputed(document.Gateways(w.status()), want) {
				begun = time.Now()
			}
			return fmt.Sprintf("they are on %v, not on %v", bound, want)
		}
		if silent := w.silent(w.gateways...); len(silent) > 0 {
			return "no answer from " + strings.Join(silent, ", ")
		}
		ports := w.learned()
		for _, g := range w.gateways {
			if through, planned := ports[g.mac], w.named(want[g.port]).port(dataBridge); through != planned {
				return fmt.Sprintf("%s answers through %s, not through %s", g.port, through, planned)
			}
		}
		return ""
	})
}

// recomputed follows the program's advice for ports that are bound nowhere for long, on the chassis where they are
// expected. It reports whether there are such ports. OVN 23.03 may lose a claim if two chassis claim a port at the
// same time, when tunnels come up on a busy machine: 4 of 130 such worlds, nine at a time.
func (w *world) recomputed(said string, want places) (helped bool) {
	w.t.Helper()
	for port, chassis := range want {
		if !strings.Contains(said, schedule.Unbound(port, chassis).Line()) {
			continue
		}
		claims := w.claims(port)
		w.t.Logf("%s has lost its claim of %s\n%s", chassis, port, strings.Join(claims, "\n"))
		require.NotEmpty(w.t, claims)
		last := claims[len(claims)-1]
		require.Contains(w.t, last, "Releasing lport", "it is unbound for another reason")
		require.False(w.t, strings.HasPrefix(last, chassis+": "), "the chassis that is to have it has released it: %s", last)
		w.run("ovs-appctl", "-t", w.named(chassis).controller.control, "inc-engine/recompute")
		w.eventually(port+" is bound again", func() string {
			if on := w.bound()[port]; on != chassis {
				return "it is on " + on
			}
			return ""
		})
		helped = true
	}
	return helped
}

// proved runs the program, which must in the end prove where each gateway is. It helps with a lost claim.
func (w *world) proved(args ...string) string {
	w.t.Helper()
	code, out, stderr := w.operate(append([]string{"gateways"}, args...)...)
	if code != 0 && w.recomputed(out, best(w.candidates())) {
		return out
	}
	require.Equal(w.t, 0, code, "%v: %s%s", args, out, stderr)
	return out
}

// silent returns the ports of gateways that don't answer the hosts outside.
func (w *world) silent(gateways ...routed) (ports []string) {
	var lock sync.Mutex
	var all sync.WaitGroup
	for _, g := range gateways {
		all.Go(func() {
			if w.outside.command("ping", "-n", "-q", "-c", "1", "-W", "2", g.address).Run() != nil {
				lock.Lock()
				defer lock.Unlock()
				ports = append(ports, g.port)
			}
		})
	}
	all.Wait()
	slices.Sort(ports)
	return ports
}

// pingInterval is the time between two pings of a stream.
const pingInterval = 100 * time.Millisecond

type stream struct {
	world *world
	cmd   *exec.Cmd
	out   bytes.Buffer
}

func (w *world) stream(g routed) *stream {
	w.t.Helper()
	s := &stream{world: w, cmd: w.outside.command("ping", "-n", "-i", fmt.Sprint(pingInterval.Seconds()), g.address)}
	s.cmd.Stdout = &s.out
	require.NoError(w.t, s.cmd.Start())
	w.t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

var answered = regexp.MustCompile(` icmp_seq=(\d+) ttl=`)

// longestGap ends the stream and returns the longest time without an answer, apart from packets under way.
func (s *stream) longestGap() time.Duration {
	s.world.t.Helper()
	require.NoError(s.world.t, s.cmd.Process.Signal(os.Interrupt))
	_ = s.cmd.Wait() // its exit code only reports whether there was any answer
	last, most := 0, 0
	for _, match := range answered.FindAllStringSubmatch(s.out.String(), -1) {
		n, err := strconv.Atoi(match[1])
		require.NoError(s.world.t, err)
		last, most = n, max(most, n-last-1)
	}
	require.NotZero(s.world.t, last, s.out.String())
	return time.Duration(most) * pingInterval
}

// gap pings every gateway during meanwhile, and returns the longest time without an answer from any of them.
func (w *world) gap(what string, meanwhile func()) (longest time.Duration) {
	w.t.Helper()
	var streams []*stream
	for _, g := range w.gateways {
		streams = append(streams, w.stream(g))
	}
	meanwhile()
	for _, s := range streams {
		longest = max(longest, s.longestGap())
	}
	w.t.Logf("%s: longest gap %s", what, longest)
	return longest
}

func (w *world) describe() {
	ports, through := w.learned(), places{}
	for _, g := range w.gateways {
		through[g.port] = ports[g.mac]
	}
	w.t.Logf("candidates: %v\nbound: %v\nseen: %v\nsilent: %v", w.candidates(), w.bound(), through,
		w.silent(w.gateways...))
	w.t.Log(w.sbctl("--columns=name,nb_cfg", "list", "Chassis_Private"))
	w.t.Log(document.Gateways(w.status()))
	for port, on := range best(w.candidates()) {
		if w.bound()[port] != on {
			w.t.Logf("%s, expected on %s:\n%s", port, on, strings.Join(w.claims(port), "\n"))
		}
	}
}

// claims returns what each ovn-controller has logged about a gateway.
func (w *world) claims(port string) (lines []string) {
	for _, c := range w.chassis {
		log, err := os.ReadFile(filepath.Join(c.dir, "ovn-controller.log"))
		require.NoError(w.t, err)
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, "cr-"+port+" ") || strings.Contains(line, "cr-"+port+":") {
				lines = append(lines, c.name+": "+strings.TrimSpace(line))
			}
		}
	}
	slices.SortFunc(lines, func(a, b string) int {
		_, a, _ = strings.Cut(a, ": ")
		_, b, _ = strings.Cut(b, ": ")
		return strings.Compare(a, b)
	})
	return lines
}
