package dataplane

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// eventually waits until nothing is wrong any more.
func (w *world) eventually(what string, wrong func() string) {
	w.t.Helper()
	w.lasts(what, 0, wrong)
}

// lasts waits until nothing has been wrong for a while.
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

// settles waits until each port is where it is to be, its router answers from there, and
// this lasts.
func (w *world) settles(want places) {
	w.t.Helper()
	w.lasts("gateways are where they are to be", hold, func() string {
		if bound := w.bound(); !maps.Equal(bound, want) {
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

// silent are the ports of gateways that don't answer who is outside.
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

// stream is who pings a gateway all the time.
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

// longestGap ends the stream, and says for how long there was no answer at most. What is
// on its way in the end doesn't count.
func (s *stream) longestGap() time.Duration {
	s.world.t.Helper()
	require.NoError(s.world.t, s.cmd.Process.Signal(os.Interrupt))
	_ = s.cmd.Wait() // it says whether there was any answer
	last, most := 0, 0
	for _, match := range answered.FindAllStringSubmatch(s.out.String(), -1) {
		n, err := strconv.Atoi(match[1])
		require.NoError(s.world.t, err)
		last, most = n, max(most, n-last-1)
	}
	require.NotZero(s.world.t, last, s.out.String())
	return time.Duration(most) * pingInterval
}

// describe tells what there is when a test has failed.
func (w *world) describe() {
	ports, through := w.learned(), places{}
	for _, g := range w.gateways {
		through[g.port] = ports[g.mac]
	}
	w.t.Logf("candidates: %v\nbound: %v\nseen: %v\nnobody: %v", w.candidates(), w.bound(), through, w.silent(w.gateways...))
	w.t.Log(w.sbctl("--columns=name,nb_cfg", "list", "Chassis_Private"))
	w.t.Log(w.status().Text())
}
