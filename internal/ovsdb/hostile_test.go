package ovsdb_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

func TestDial_honest_server(t *testing.T) {
	t.Parallel()
	require.NoError(t, use(within(t, soon), newFake(t, honestly).endpoint))
}

// A wrong answer is an error, and never means that no ovn-northd is active.
func TestNorthdLockFree_wrong_answers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `null`, `[]`, `{"id":1,"result":null}`, `{"id":1,"result":{}}`, `{"id":1,"result":{"locked":null}}`,
		`{"id":1,"result":{"locked":"true"}}`, `{"id":2,"result":{"locked":true}}`, `{"id":"1","result":{"locked":true}}`,
		`{"id":1,"result":null,"error":{"error":"not allowed"}}`, "HTTP/1.1 400 Bad Request\r\n\r\n",
		`{"id":1,"result":` + strings.Repeat("[", 1<<20),
	} {
		f := newFake(t, func(r request, _ net.Conn) *string {
			if r.Method == "lock" {
				return &text
			}
			return nil
		})
		free, err := new(ovsdb.Dialer).NorthdLockFree(within(t, soon), f.endpoint)
		assert.Error(t, err, "%.60s", text)
		assert.False(t, free, "%.60s", text)
	}
}

// wrong has malformed answers by request: its method and its database. ID means the request's ID. An answer with
// a comment made the program panic, in the library or in github.com/cenkalti/rpc2.
var wrong = map[string][]string{
	"list_dbs ": {
		`{"id":null,"result":[],"error":null}`, // jsonrpc.go: ReadHeader
		`{"result":["_Server"],"error":null}`,  // the same
		`{"id":99,"result":["_Server"],"error":null}`,
		`{"id":-1,"result":["_Server"],"error":null}`,
		`{"id":1.5,"result":["_Server"],"error":null}`,
		`{"id":"1","result":["_Server"],"error":null}`,
		result(`null`), result(`{"a":1}`),
		`{"id":ID,"result":null,"error":{"error":"no","details":"x"}}`,
		`HTTP/1.1 400 Bad Request` + "\r\n\r\n", `[1,2,3]`, `null`, "\x00\x00\x00\x00",
		`{"id":ID,"result":` + strings.Repeat("[", 5<<20),
		`{"id":7,"method":"steal","params":[]}`,
		`{"id":null,"method":"stolen","params":[]}`,
		`{"id":null,"method":"update","params":[]}`,    // client.go: update
		`{"id":null,"method":"update2","params":[]}`,   // client.go: update2
		`{"id":null,"method":"update3","params":[{}]}`, // client.go: update3
		`{"id":null,"method":"update3","params":null}`,
		`{"id":null,"method":"update3"}`,
		`{"id":null,"method":"echo","params":{"a":"b"}}`,
	},
	"get_schema OVN_Northbound": {
		result(`null`), result(`"OVN_Northbound"`), result(`{"name":"OVN_Northbound","tables":null}`),
		schemaOf(`null`),
		schemaOf(`{"type":null}`), // schema.go: ColumnSchema
		schemaOf(`{}`),            // the same
		schemaOf(`{"type":{"key":null}}`),
		schemaOf(`{"type":{"key":null,"value":"string"}}`),              // bindings.go: NativeType
		schemaOf(`{"type":{"key":{"type":"poem"}}}`),                    // bindings.go: NativeType
		schemaOf(`{"type":{"key":{"type":"string","enum":["set"]}}}`),   // schema.go: BaseType
		schemaOf(`{"type":{"key":{"type":"string","enum":["set",7]}}}`), // schema.go: BaseType
	},
	"transact _Server": {
		result(`[]`), result(`{}`), result(`[{"count":1.5,"rows":[]}]`), result(`[{"error":7}]`),
		rowOf(strings.Repeat(`["set",[`, 3000) + `"x"` + strings.Repeat(`]]`, 3000)),
		rowOf(`[]`),           // notation.go: ovsSliceToGoNotation
		rowOf(`["uuid"]`),     // uuid.go: UnmarshalJSON
		rowOf(`["set"]`),      // set.go: UnmarshalJSON
		rowOf(`["set",7]`),    // set.go: UnmarshalJSON
		rowOf(`["set",[[]]]`), // notation.go
		rowOf(`["map",7]`),    // map.go: UnmarshalJSON
		rowOf(`["map",[["a"]]]`),
		rowOf(`["map",[[["set",[1]],2]]]`),
	},
	"transact OVN_Northbound": {result(`null`)},
	"monitor_cond_since OVN_Northbound": {
		`{"id":ID,"result":[7],"error":null}`,
		since(`null`), // cache.go: Populate2
		since(`{"initial":{"external_ids":null}}`),
		since(`{"initial":{"external_ids":["map",[["a",null]]]}}`), // bindings.go
		since(`{"initial":{"external_ids":["map",[["a",7]]]}}`),
		since(`{"modify":{}}`),
	},
}

func result(text string) string { return `{"id":ID,"result":` + text + `,"error":null}` }

func schemaOf(column string) string {
	columns := `{"external_ids":` + column + `,"other":` + column + `}`
	return result(`{"name":"OVN_Northbound","version":"1","tables":{"NB_Global":{"columns":` + columns + `}}}`)
}

func rowOf(value string) string { return result(`[{"rows":[{"sid":` + value + `}]}]`) }

func since(row string) string {
	return result(`[false,"",{"NB_Global":{"` + rowID + `":` + row + `}}]`)
}

func TestDial_wrong_answer_is_error(t *testing.T) {
	t.Parallel()
	for about, answers := range wrong {
		for i, answer := range answers {
			t.Run(fmt.Sprint(about, i), func(t *testing.T) {
				t.Parallel()
				server := newFake(t, func(r request, _ net.Conn) *string {
					if r.Method+" "+r.about() != about {
						return nil
					}
					return new(strings.ReplaceAll(answer, "ID", string(r.ID)))
				})
				start := time.Now()
				require.Error(t, use(within(t, 3*time.Second), server.endpoint), "%.200s", answer)
				assert.Less(t, time.Since(start), soon)
			})
		}
	}
}

// The client neither reads all of a server's endless output nor waits for its end.
func TestDial_endless_answer_is_cut_off(t *testing.T) {
	for name, test := range map[string]struct {
		begin, more string
		pause       time.Duration
	}{
		"string":         {`{"id":ID,"result":["`, strings.Repeat("x", 64<<10), 0},
		"list":           {`{"id":ID,"result":["a"`, strings.Repeat(`,"a"`, 16<<10), 0},
		"white_space":    {``, strings.Repeat(" ", 64<<10), 0},
		"number":         {`{"id":`, strings.Repeat("1", 64<<10), 0},
		"slow":           {`{"id":ID,"result":["`, "x", 10 * time.Millisecond},
		"echo_requests":  {``, strings.Repeat(`{"id":1,"method":"echo","params":["x"]}`, 1000), 0},
		"other_requests": {``, strings.Repeat(`{"id":1,"method":"echo2","params":["x"]}`, 1000), 0},
		"answers":        {``, strings.Repeat(`{"id":0,"result":[],"error":null}`, 1000), 0},
		"cut_off":        {`{"id":ID,"result":["a"`, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := newFake(t, nil)
			ended := make(chan struct{})
			server.answer = func(r request, c net.Conn) *string {
				defer close(ended)
				defer c.Close()
				_, err := c.Write([]byte(strings.ReplaceAll(test.begin, "ID", string(r.ID))))
				for n := 0; err == nil && test.more != ""; {
					n, err = c.Write([]byte(test.more))
					server.sent.Add(int64(n))
					time.Sleep(test.pause) // the test is about a slow server
				}
				return new("")
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			require.Error(t, use(within(t, time.Second), server.endpoint))
			assert.Less(t, time.Since(start), soon)
			<-ended
			runtime.ReadMemStats(&after)
			if !strings.HasSuffix(name, "requests") && name != "answers" { // these answers are short
				assert.Less(t, server.sent.Load(), int64(4<<20), "it is not read further")
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
			}
			assert.Less(t, after.HeapInuse, before.HeapInuse+64<<20)
		})
	}
}

// Another unit's server may answer with so many empty rows that this machine's memory would not suffice.
func TestGlobal_long_answer_is_cut_off(t *testing.T) {
	ended := make(chan struct{})
	server := newFake(t, nil)
	server.answer = func(r request, c net.Conn) *string {
		if r.about() != string(ovndb.NB) || len(r.Params) == 1 { // the request with which a session begins
			return nil
		}
		defer close(ended)
		defer c.Close()
		_, err := fmt.Fprintf(c, `{"id":%s,"result":[{}`, r.ID)
		for n := 0; err == nil; {
			n, err = c.Write([]byte(strings.Repeat(`,{}`, 16<<10)))
			server.sent.Add(int64(n))
		}
		return new("")
	}
	g, err := new(ovsdb.Dialer).Global(within(t, soon), ovndb.NB, server.endpoint)
	require.NoError(t, err)
	defer g.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = g.Read(within(t, soon))
	require.ErrorContains(t, err, "as one message")
	<-ended
	runtime.ReadMemStats(&after)
	assert.Less(t, server.sent.Load(), int64(16<<20), "it is not read further")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// unsolicited has messages that answer no request, and whether they end the connection. COOKIE means the
// monitor's cookie.
var unsolicited = map[string]bool{
	`{"id":null,"method":"update3","params":[{"databaseName":"OVN_Northbound","id":"x"},"t",{}]}`: true,
	`{"id":null,"method":"update3","params":[null,"t",{}]}`:                                       true,
	`{"id":null,"method":"update3","params":[{"databaseName":"other","id":"x"},"t",{}]}`:          true,
	`{"id":null,"method":"update3","params":[1,2,3,4]}`:                                           true,
	`{"id":null,"method":"update3","params":[]}`:                                                  true,

	update3(`"Poems":{"` + rowID + `":{"insert":{}}}`):                             false,
	update3(`"NB_Global":{"` + rowID + `":null}`):                                  true, // cache.go
	update3(`"NB_Global":{"` + rowID + `":{"modify":{"a":["uuid"]}}}`):             true, // uuid.go
	update3(`"NB_Global":{"x":{"insert":{"external_ids":["map",[[null,null]]]}}}`): true, // bindings.go

	`{"id":null,"method":"update","params":[COOKIE,{"NB_Global":{"x":{"old":{},"new":{}}}}]}`: true, // model.go: Clone
	`{"id":null,"method":"update","params":[COOKIE,{"NB_Global":{"x":{"old":{}}}}]}`:          true,
	`{"id":null,"method":"update2","params":[COOKIE,{"NB_Global":{"x":null}}]}`:               true,

	`{"id":3,"result":[],"error":null}`:                      false, // answered before
	`{"id":12345,"result":[],"error":null}`:                  true,
	`{"id":null,"result":[],"error":null}`:                   true,
	`}`:                                                      true,
	`{"id":"echo","method":"echo","params":[]}`:              false,
	`{"id":0,"result":"` + strings.Repeat("x", 1<<20) + `"}`: false,
}

func update3(tables string) string {
	return `{"id":null,"method":"update3","params":[COOKIE,"t",{` + tables + `}]}`
}

func TestDial_unsolicited_message(t *testing.T) {
	t.Parallel()
	i := 0
	for text, lost := range unsolicited {
		i++
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			cookies, conns := make(chan string, 1), make(chan net.Conn, 1)
			server := newFake(t, func(r request, c net.Conn) *string {
				if r.Method == "monitor_cond_since" {
					cookies <- string(r.Params[1])
					conns <- c
				}
				return nil
			})
			ctx := within(t, soon)
			w, err := new(ovsdb.Dialer).Watch(ctx, ovndb.NB, "key", server.endpoint)
			require.NoError(t, err)
			defer w.Close()
			c := <-conns
			_, err = c.Write([]byte(strings.ReplaceAll(text, "COOKIE", <-cookies)))
			require.NoError(t, err)
			if lost {
				select {
				case <-w.Lost():
				case <-ctx.Done():
					t.Fatalf("the connection lasts after %.200s", text)
				}
				return
			}
			value, err := w.Read(ctx)
			require.NoError(t, err, "%.200s", text)
			assert.Equal(t, "value", value)
		})
	}
}

// A server that closes the connection at the very end of Connect caused a race between the library's goroutines.
func TestDial_connection_that_ends_at_once(t *testing.T) {
	t.Parallel()
	server := newFake(t, nil)
	server.answer = func(r request, c net.Conn) *string {
		if r.Method == "get_schema" {
			_, _ = c.Write([]byte(server.honest(r)))
			_ = c.Close()
		}
		return nil
	}
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		require.Error(t, use(ctx, server.endpoint))
		cancel()
	}
}

// Each use of a server ends in time, whatever the server answers or sends.
func FuzzAnswer(f *testing.F) {
	var methods []string
	for about, answers := range wrong {
		method, _, _ := strings.Cut(about, " ")
		methods = append(methods, method)
		for _, answer := range answers {
			if len(answer) < 10_000 {
				f.Add(method, answer)
			}
		}
	}
	initial := since(`{"initial":{}}`)
	for _, change := range []string{`{"modify":{"external_ids":["map",[["a","b"]]]}}`, `{"delete":null}`} {
		f.Add("monitor_cond_since", initial+update3(`"NB_Global":{"`+rowID+`":`+change+`}`))
	}
	var method, answer atomic.Value
	server := newFake(f, nil)
	server.answer = func(r request, c net.Conn) *string {
		if r.Method != method.Load() {
			return nil
		}
		cookie := "null"
		if r.Method == "monitor_cond_since" {
			cookie = string(r.Params[1])
		}
		text := strings.NewReplacer("ID", string(r.ID), "COOKIE", cookie).Replace(answer.Load().(string))
		_, _ = c.Write([]byte(text))
		_ = c.Close()
		return nil
	}
	f.Fuzz(func(t *testing.T, to, text string) {
		if !slices.Contains(methods, to) {
			return
		}
		method.Store(to)
		answer.Store(text)
		ctx := within(t, soon)
		_ = use(ctx, server.endpoint)
		require.NoError(t, ctx.Err())
	})
}
