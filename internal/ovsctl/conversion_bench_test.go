//go:build programs

package ovsctl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// wire is a connection to a server's client socket.
type wire struct {
	conn    net.Conn
	decoder *json.Decoder
	last    int
}

func dial(ctx context.Context, socket string) (*wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, decoder: json.NewDecoder(conn)}, nil
}

// transact returns nil if the server has committed the operations.
func (w *wire) transact(timeout time.Duration, operations ...string) error {
	w.last++
	if err := w.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	all := strings.Join(operations, ",")
	request := fmt.Sprintf(`{"method":"transact","id":%d,"params":["OVN_Southbound",%s]}`, w.last, all)
	if _, err := w.conn.Write([]byte(request)); err != nil {
		return err
	}
	for {
		var reply struct {
			Method string            `json:"method"`
			ID     any               `json:"id"`
			Error  json.RawMessage   `json:"error"`
			Result []json.RawMessage `json:"result"`
		}
		if err := w.decoder.Decode(&reply); err != nil {
			return err
		}
		if reply.Method != "" {
			continue // an echo
		}
		for _, r := range reply.Result {
			if strings.Contains(string(r), `"error"`) {
				return fmt.Errorf("refused: %s", r)
			}
		}
		if len(reply.Error) > 0 && string(reply.Error) != "null" {
			return fmt.Errorf("refused: %s", reply.Error)
		}
		return nil
	}
}

// fill writes flows until the server's file has mib MiB.
func (s *server) fill(t testing.TB, mib int64) {
	t.Helper()
	w, err := dial(context.Background(), s.Paths.Socket(s.Database))
	require.NoError(t, err)
	defer func() { _ = w.conn.Close() }()
	for n := 0; raftfile.Size(s.Paths.File(s.Database)) < mib<<20; {
		var flows []string
		for range 2000 {
			n++
			match := fmt.Sprintf(`ip4 && ip4.src == 10.%d.%d.%d && inport == \"p-%032x\" && `+
				`(ct.est && !ct.rpl && ct_label.blocked == 0)`, n>>16&255, n>>8&255, n&255, n)
			ids := fmt.Sprintf(`["map",[["source","northd.c:%d"],["stage-name","ls_in_acl"]]]`, n%9000)
			flows = append(flows, fmt.Sprintf(`{"op":"insert","table":"Logical_Flow","row":{"pipeline":"ingress",`+
				`"table_id":%d,"priority":%d,"match":"%s","actions":"next;","external_ids":%s}}`,
				n%30, 1000+n%1000, match, ids))
		}
		require.NoError(t, w.transact(time.Minute, flows...))
	}
}

// write writes a small row.
func (s *server) write(n int) error {
	w, err := dial(context.Background(), s.Paths.Socket(s.Database))
	if err != nil {
		return err
	}
	defer func() { _ = w.conn.Close() }()
	return w.transact(2*time.Second, fmt.Sprintf(`{"op":"insert","table":"Controller_Event","row":`+
		`{"event_type":"empty_lb_backends","event_info":["map",[["row","%d"]]]}}`, n))
}

// gaps writes through the members until stop is closed, and is the longest time without a write that was acknowledged.
func gaps(members []*server, stop chan struct{}, wg *sync.WaitGroup) *time.Duration {
	longest := new(time.Duration)
	wg.Go(func() {
		last := time.Now()
		for n := 0; ; n++ {
			select {
			case <-stop:
				*longest = max(*longest, time.Since(last))
				return
			case <-time.After(20 * time.Millisecond):
			}
			if members[n%len(members)].write(n) != nil {
				continue
			}
			*longest = max(*longest, time.Since(last))
			last = time.Now()
		}
	})
	return longest
}

// large is a cluster of three whose database has mib MiB and an older schema.
func large(t testing.TB, mib int64, timer time.Duration) []*server {
	t.Helper()
	servers := ovsdbtest.Several(t, ovndb.SB, 3)
	servers[0].Timer = timer
	servers[0].Schema = edited(t, ovndb.SB, "20.0.0", func(tables object) {
		delete(columnsOf(tables, "Chassis"), "other_config")
	})
	members := all(ovsdbtest.Form(t, servers...))
	members[0].fill(t, mib)
	return members
}

// number is a number of the environment.
func number(b *testing.B, name string, otherwise float64) float64 {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(b, err)
	return n
}

// How long a conversion takes at an election timer, how long nothing can be written meanwhile, and how many elections
// there are. The variables SIZE and TIMER of the environment are in MiB and seconds.
func BenchmarkConversion(b *testing.B) {
	timer := time.Duration(number(b, "TIMER", 24) * float64(time.Second))
	members := large(b, int64(number(b, "SIZE", 20)), timer)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	longest := gaps(members, stop, &writer)
	patient := members[0].control()
	patient.Timeout = time.Minute
	before, err := patient.Status(b.Context(), ovndb.SB)
	require.NoError(b, err)
	b.ResetTimer()
	start := time.Now()
	err = ovsctl.Files{Runner: run.Exec{}, Paths: members[0].Paths}.Convert(b.Context(), ovndb.SB, 10*time.Minute)
	b.ReportMetric(time.Since(start).Seconds(), "s")
	b.StopTimer()
	var after raft.Status
	require.Eventually(b, func() bool {
		if err := members[1].write(-1); err != nil {
			return false
		}
		after, err = patient.Status(b.Context(), ovndb.SB)
		return err == nil
	}, 5*time.Minute, time.Second)
	close(stop)
	writer.Wait()
	b.ReportMetric(longest.Seconds(), "s-gap")
	b.ReportMetric(float64(after.Term-before.Term), "elections")
	require.NoError(b, err)
}
