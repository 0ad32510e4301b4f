package dataplane

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// program is set in a process of these tests that runs the program itself.
const program = "OVN_CENTRAL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(program) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Main(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// heldDown is longer than OVN takes for anything that it does by itself.
const heldDown = 25 * time.Second

// addAgents starts the agents of two units beside the databases. It returns, by unit, a function that kills the
// agent.
func (w *world) addAgents() (kill map[string]func()) {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	kill = map[string]func(){}
	for n := 1; n <= 2; n++ {
		unit := fmt.Sprintf("u/%d", n)
		cmd := w.hub.command(self, "agent", "--unit", unit, "--nb", w.endpoint("nb"), "--sb", w.endpoint("sb"), "--mode", "on", "--schedule-neutron-gateways",
			"--hold-down", heldDown.String(), "--listen", fmt.Sprintf("127.0.0.%d:16401", n), "--peer-listen", fmt.Sprintf("127.0.0.%d:16402", n),
			"--peer", fmt.Sprintf("127.0.0.%d:16402", 3-n))
		cmd.Env = append(append(os.Environ(), program+"=1"), directories(w.dir)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		require.NoError(w.t, cmd.Start())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait() // killed
		}()
		kill[unit] = func() {
			_ = cmd.Process.Kill()
			<-ended
		}
		w.t.Cleanup(func() {
			kill[unit]()
			if w.t.Failed() {
				w.t.Logf("%s:\n%s", unit, &said)
			}
		})
	}
	return kill
}

var holderOf = regexp.MustCompile(`holder[\\":]+(u/\d)`)

// holder returns the unit that holds the lease, if any.
func (w *world) holder() string {
	w.t.Helper()
	found := holderOf.FindStringSubmatch(w.nbctl("list", "NB_Global"))
	if found == nil {
		return ""
	}
	return found[1]
}

// 003-5, 004: a chassis dies together with the acting unit. The other unit replaces candidates, which stops no
// traffic.
func TestTraffic_chassis_and_acting_unit_die_together(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for i := range 8 {
		names := w.but("")
		w.addGateway(names[i%4], names[(i+1)%4], names[(i+2)%4], names[(i+3)%4])
	}
	before := w.candidates()
	w.settles(best(before))
	kill := w.addAgents()
	first := ""
	w.eventually("a unit acts", func() string {
		if first = w.holder(); first == "" {
			return "no record of a holder"
		}
		return ""
	})

	kill[first]()
	w.named("ch2").lose()
	w.sbctl("chassis-del", "ch2")
	w.settles(without("ch2", before))
	require.Equal(t, before, w.candidates(), "the agents have not begun")
	gap := w.gap("the other agent replaces candidates", func() {
		w.eventually("every candidate exists", func() string {
			for port, list := range w.candidates() {
				if len(list) != 3 {
					return fmt.Sprintf("%s has %v", port, list)
				}
			}
			return ""
		})
		after := w.candidates()
		assert.Zero(t, listed(after, "ch2"))
		assert.NotEqual(t, first, w.holder(), "the other unit has done it")
		assert.Equal(t, without("ch2", before), best(after), "no gateway that works is moved")
		w.settles(best(after))
	})
	assert.LessOrEqual(t, gap, time.Second)
}
