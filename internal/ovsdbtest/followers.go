package ovsdbtest

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Follow plays the ovn-controllers of all chassis with a host name until the test ends: each follows nb_cfg at once.
// They are older than OVN 20.09 and write it to Chassis, so that a row of Chassis_Private makes one silent.
func Follow(t testing.TB, endpoint string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			follow(ctx, strings.TrimPrefix(endpoint, "unix:"))
			if poll.Wait(ctx, 50*time.Millisecond) != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

// message is a message of RFC 7047.
type message struct {
	Method string `json:"method,omitempty"`
	Params any    `json:"params,omitempty"`
	ID     any    `json:"id"`
	Result any    `json:"result,omitempty"`
	Error  any    `json:"error"`
}

// follow returns once the connection is lost or the context has ended.
func follow(ctx context.Context, socket string) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return // it is not up yet
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	out := json.NewEncoder(c)
	list := func(all ...any) []any { return all }
	const db, config, read = "OVN_Southbound", "nb_cfg", "read"
	columns := map[string]any{"columns": list(config)}
	_ = out.Encode(message{Method: "monitor", ID: "watch", Params: list(db, nil, map[string]any{
		"SB_Global": columns, "Chassis": columns,
	})})
	for in := json.NewDecoder(c); ; {
		var m struct {
			message
			Result json.RawMessage `json:"result"`
		}
		if in.Decode(&m) != nil {
			return
		}
		switch {
		case m.Method == "echo":
			_ = out.Encode(message{ID: m.ID, Result: m.Params})
		case m.Method == "update", m.ID == "watch":
			_ = out.Encode(message{Method: "transact", ID: read, Params: list(db, map[string]any{
				"op": "select", "table": "SB_Global", "where": []any{}, "columns": list(config),
			})})
		case m.ID == read:
			var answers []struct {
				Rows []struct {
					Asked int `json:"nb_cfg"`
				}
			}
			if json.Unmarshal(m.Result, &answers) != nil || len(answers) == 0 || len(answers[0].Rows) == 0 {
				continue // SB_Global has no row yet
			}
			asked := answers[0].Rows[0].Asked
			_ = out.Encode(message{Method: "transact", ID: "write", Params: list(db, map[string]any{
				"op": "update", "table": "Chassis", "where": list(list(config, "!=", asked), list("hostname", "!=", "")),
				"row": map[string]any{config: asked},
			})})
		}
	}
}
