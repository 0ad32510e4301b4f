package ovsdb_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// soon is much less than a test's timeout.
const soon = 30 * time.Second

// within returns a context with a deadline.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// request is a client's request.
type request struct {
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
	ID     json.RawMessage   `json:"id"`
}

// about returns the request's database.
func (r request) about() (db string) {
	if len(r.Params) > 0 {
		_ = json.Unmarshal(r.Params[0], &db)
	}
	return db
}

// fake is an OVSDB server whose answers a test determines.
type fake struct {
	endpoint string
	// answer returns the raw answer; nil means an honest answer. It may write to the connection itself.
	answer func(r request, c net.Conn) *string
	sent   atomic.Int64
}

const rowID = "6b2f5ad4-6dbc-4a2c-a1b2-6f0c1d2e3f40"

func (f *fake) honest(r request) string {
	const (
		ids    = `"external_ids":{"type":{"key":"string","value":"string","min":0,"max":"unlimited"}}`
		pairs  = `"external_ids":["map",[["key","value"]]]`
		tables = `"version":"1","tables":{`
		id     = `["uuid","` + rowID + `"]`
		state  = `"model":"clustered","connected":true,"leader":true,"cid":` + id + `,"sid":` + id + `,"index":7`
	)
	results := map[string]string{
		"list_dbs ":                         `["_Server","OVN_Northbound"]`,
		"get_schema OVN_Northbound":         `{"name":"OVN_Northbound",` + tables + `"NB_Global":{"columns":{` + ids + `}}}}`,
		"echo libovsdb echo":                `["libovsdb echo"]`,
		"transact _Server":                  `[{"rows":[{` + state + `}]}]`,
		"transact OVN_Northbound":           `[{"rows":[{"_uuid":` + id + `,` + pairs + `}]}]`,
		"monitor_cond_since OVN_Northbound": `[false,"",{"NB_Global":{"` + rowID + `":{"initial":{` + pairs + `}}}}]`,
	}
	result := cmp.Or(results[r.Method+" "+r.about()], `{}`)
	return fmt.Sprintf(`{"id":%s,"result":%s,"error":null}`, r.ID, result)
}

func (f *fake) serve(c net.Conn) {
	defer c.Close()
	requests := json.NewDecoder(c)
	for {
		var r request
		if requests.Decode(&r) != nil {
			return
		}
		if r.Method == "" {
			continue // not a request, but an answer
		}
		answer := f.answer(r, c)
		if answer == nil {
			answer = new(f.honest(r))
		}
		n, err := c.Write([]byte(*answer))
		f.sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func newFake(t testing.TB, answer func(r request, c net.Conn) *string) *fake {
	t.Helper()
	f := &fake{answer: answer}
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	f.endpoint = "unix:" + path
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
	return f
}

// honestly answers as a server without errors.
func honestly(request, net.Conn) *string { return nil }

// use makes a call of each kind that the product uses and that has an answer.
func use(ctx context.Context, endpoint string) error {
	d := new(ovsdb.Dialer)
	if _, err := d.Server(ctx, ovndb.NB, endpoint); err != nil {
		return err
	}
	w, err := d.Watch(ctx, ovndb.NB, "key", endpoint)
	if err != nil {
		return err
	}
	defer w.Close()
	value, err := w.Read(ctx)
	if err == nil && value != "value" {
		err = fmt.Errorf("the value is %q", value)
	}
	return err
}
