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

func TestHonestServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	require.NoError(t, use(ctx, newFake(t, honestly).endpoint))
}

// wrong are malformed answers. Those with a place made the program panic there, in the library or in
// github.com/cenkalti/rpc2.
var wrong = map[string]struct {
	// method is the request's method, of which database.
	method, about string
	// result is the result in the answer; otherwise answer is the whole answer.
	result, answer string
}{
	"id null":                             {"list_dbs", "", "", `{"id":null,"result":[],"error":null}`}, // jsonrpc.go: ReadHeader
	"no id":                               {"list_dbs", "", "", `{"result":["_Server"],"error":null}`},  // the same
	"another id":                          {"list_dbs", "", "", `{"id":99,"result":["_Server"],"error":null}`},
	"negative id":                         {"list_dbs", "", "", `{"id":-1,"result":["_Server"],"error":null}`},
	"id with a fraction":                  {"list_dbs", "", "", `{"id":1.5,"result":["_Server"],"error":null}`},
	"id a string":                         {"list_dbs", "", "", `{"id":"1","result":["_Server"],"error":null}`},
	"result null":                         {"list_dbs", "", `null`, ""},
	"result of another type":              {"list_dbs", "", `{"a":1}`, ""},
	"error an object":                     {"list_dbs", "", "", `{"id":ID,"result":null,"error":{"error":"no","details":"x"}}`},
	"no JSON":                             {"list_dbs", "", "", `HTTP/1.1 400 Bad Request` + "\r\n\r\n"},
	"an array":                            {"list_dbs", "", "", `[1,2,3]`},
	"null":                                {"list_dbs", "", "", `null`},
	"NUL":                                 {"list_dbs", "", "", "\x00\x00\x00\x00"},
	"endless nesting":                     {"list_dbs", "", "", `{"id":ID,"result":` + strings.Repeat("[", 5<<20)},
	"deep nesting":                        {"transact", "_Server", nested(`"x"`, 3000), ""},
	"a request of an unknown method":      {"list_dbs", "", "", `{"id":7,"method":"steal","params":[]}`},
	"a notification of an unknown method": {"list_dbs", "", "", `{"id":null,"method":"stolen","params":[]}`},
	"update without parameters":           {"list_dbs", "", "", `{"id":null,"method":"update","params":[]}`},      // client.go: update
	"update2 without parameters":          {"list_dbs", "", "", `{"id":null,"method":"update2","params":[]}`},     // client.go: update2
	"update3 with one parameter":          {"list_dbs", "", "", `{"id":null,"method":"update3","params":[{}]}`},   // client.go: update3
	"update3_with_null_parameters":        {"list_dbs", "", "", `{"id":null,"method":"update3","params":null}`},   //
	"update3 without parameters at all":   {"list_dbs", "", "", `{"id":null,"method":"update3"}`},                 //
	"echo of an object":                   {"list_dbs", "", "", `{"id":null,"method":"echo","params":{"a":"b"}}`}, //
	"schema null":                         {"get_schema", "_Server", `null`, ""},
	"schema a string":                     {"get_schema", "_Server", `"_Server"`, ""},
	"no tables":                           {"get_schema", "_Server", `{"name":"_Server","tables":null}`, ""},
	"column null":                         {"get_schema", "_Server", schemaOf(`null`), ""},
	"type null":                           {"get_schema", "_Server", schemaOf(`{"type":null}`), ""},                                       // schema.go: ColumnSchema
	"no type":                             {"get_schema", "_Server", schemaOf(`{}`), ""},                                                  // the same
	"key null":                            {"get_schema", "_Server", schemaOf(`{"type":{"key":null}}`), ""},                               // schema.go: ColumnSchema
	"key null of a map":                   {"get_schema", "_Server", schemaOf(`{"type":{"key":null,"value":"string"}}`), ""},              // bindings.go: NativeType
	"unknown atomic type":                 {"get_schema", "_Server", schemaOf(`{"type":{"key":{"type":"poem"}}}`), ""},                    // bindings.go: NativeType
	"enum without a set":                  {"get_schema", "_Server", schemaOf(`{"type":{"key":{"type":"string","enum":["set"]}}}`), ""},   // schema.go: BaseType
	"enum of a number":                    {"get_schema", "_Server", schemaOf(`{"type":{"key":{"type":"string","enum":["set",7]}}}`), ""}, // schema.go: BaseType
	"results too few":                     {"transact", "_Server", `[]`, ""},
	"results an object":                   {"transact", "_Server", `{}`, ""},
	"count with a fraction":               {"transact", "_Server", `[{"count":1.5,"rows":[]}]`, ""},
	"error a number":                      {"transact", "_Server", `[{"error":7}]`, ""},
	"empty array":                         {"transact", "_Server", answerOf(`[]`), ""},              // notation.go: ovsSliceToGoNotation
	"uuid of one element":                 {"transact", "_Server", answerOf(`["uuid"]`), ""},        // uuid.go: UnmarshalJSON
	"set of nothing":                      {"transact", "_Server", answerOf(`["set"]`), ""},         // set.go: UnmarshalJSON
	"set of a number":                     {"transact", "_Server", answerOf(`["set",7]`), ""},       // set.go: UnmarshalJSON
	"set of an empty array":               {"transact", "_Server", answerOf(`["set",[[]]]`), ""},    // notation.go
	"map of a number":                     {"transact", "_Server", answerOf(`["map",7]`), ""},       // map.go: UnmarshalJSON
	"pair of one":                         {"transact", "_Server", answerOf(`["map",[["a"]]]`), ""}, // map.go
	"key that can be no key":              {"transact", "_Server", answerOf(`["map",[[["set",[1]],2]]]`), ""},
	"rows null":                           {"transact", "OVN_Northbound", `null`, ""},
	"no transaction":                      {"monitor_cond_since", "", `[false,null,null]`, `{"id":ID,"result":[7],"error":null}`},
	"row null":                            {"monitor_cond_since", "", since(`null`), ""}, // cache.go: Populate2
	"value null":                          {"monitor_cond_since", "", since(`{"initial":{"external_ids":null}}`), ""},
	"value null in a map":                 {"monitor_cond_since", "", since(`{"initial":{"external_ids":["map",[["a",null]]]}}`), ""}, // bindings.go
	"value of another type":               {"monitor_cond_since", "", since(`{"initial":{"external_ids":["map",[["a",7]]]}}`), ""},
	"row changed that is not there":       {"monitor_cond_since", "", since(`{"modify":{}}`), ""},
}

func schemaOf(column string) string {
	return `{"name":"_Server","version":"1","tables":{"Database":{"columns":{"name":` + column + `,"other":` + column + `}}}}`
}

func answerOf(value string) string { return `[{"rows":[{"sid":` + value + `}]}]` }

func since(row string) string {
	return `[false,"00000000-0000-0000-0000-000000000000",{"NB_Global":{"` + rowID + `":` + row + `}}]`
}

// nested is a value inside depth sets.
func nested(value string, depth int) string {
	return answerOf(strings.Repeat(`["set",[`, depth) + value + strings.Repeat(`]]`, depth))
}

func TestDial_wrong_answer_is_error(t *testing.T) {
	t.Parallel()
	for name, test := range wrong {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newFake(t, func(r request, _ net.Conn) *string {
				if r.Method != test.method || test.about != "" && r.about() != test.about {
					return nil
				}
				answer := test.answer
				if answer == "" {
					answer = `{"id":ID,"result":` + test.result + `,"error":null}`
				}
				return new(strings.ReplaceAll(answer, "ID", string(r.ID)))
			})
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			begun := time.Now()
			require.Error(t, use(ctx, server.endpoint))
			assert.Less(t, time.Since(begun), soon)
		})
	}
}

// A server's endless output is neither read nor awaited without end.
func TestDial_endless_answer_is_cut_off(t *testing.T) {
	for name, test := range map[string]struct {
		begin, more string
		pause       time.Duration
	}{
		"a long text":    {`{"id":ID,"result":["`, strings.Repeat("x", 64<<10), 0},
		"a long list":    {`{"id":ID,"result":["a"`, strings.Repeat(`,"a"`, 16<<10), 0},
		"white space":    {``, strings.Repeat(" ", 64<<10), 0},
		"a long number":  {`{"id":`, strings.Repeat("1", 64<<10), 0},
		"slowly":         {`{"id":ID,"result":["`, "x", 10 * time.Millisecond},
		"echo requests":  {``, strings.Repeat(`{"id":1,"method":"echo","params":["x"]}`, 1000), 0},
		"other requests": {``, strings.Repeat(`{"id":1,"method":"echo2","params":["x"]}`, 1000), 0},
		"answers":        {``, strings.Repeat(`{"id":0,"result":[],"error":null}`, 1000), 0},
		"cut off":        {`{"id":ID,"result":["a"`, "", 0},
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
					time.Sleep(test.pause) // the server is slow: that is the case, not a wait
				}
				return new("")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begun := time.Now()
			require.Error(t, use(ctx, server.endpoint))
			assert.Less(t, time.Since(begun), soon)
			<-ended
			runtime.ReadMemStats(&after)
			if !strings.HasSuffix(name, "requests") && name != "answers" { // of those each is short
				assert.Less(t, server.sent.Load(), int64(4<<20), "it is not read further")
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
			}
			assert.Less(t, after.HeapInuse, before.HeapInuse+64<<20)
		})
	}
}

// A server's unsolicited output at most ends its connection.
func TestDial_wrong_notification_ends_connection(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		lost bool
	}{
		"an update of no monitor":       {`{"id":null,"method":"update3","params":[{"databaseName":"OVN_Northbound","id":"x"},"t",{}]}`, true}, // client.go: update3
		"an update of a null monitor":   {`{"id":null,"method":"update3","params":[null,"t",{}]}`, true},
		"an update of another database": {`{"id":null,"method":"update3","params":[{"databaseName":"other","id":"x"},"t",{}]}`, true},
		"an update of an unknown table": {`{"id":null,"method":"update3","params":[COOKIE,"t",{"Poems":{"` + rowID + `":{"insert":{}}}}]}`, false},
		"an update of a row null":       {`{"id":null,"method":"update3","params":[COOKIE,"t",{"NB_Global":{"` + rowID + `":null}}]}`, true},                                  // cache.go
		"an update with a short uuid":   {`{"id":null,"method":"update3","params":[COOKIE,"t",{"NB_Global":{"` + rowID + `":{"modify":{"a":["uuid"]}}}}]}`, true},             // uuid.go
		"an update with null":           {`{"id":null,"method":"update3","params":[COOKIE,"t",{"NB_Global":{"x":{"insert":{"external_ids":["map",[[null,null]]]}}}}]}`, true}, // bindings.go
		"an update of the first kind":   {`{"id":null,"method":"update","params":[COOKIE,{"NB_Global":{"x":{"old":{},"new":{}}}}]}`, true},                                    // model.go: Clone
		"a deletion of the first kind":  {`{"id":null,"method":"update","params":[COOKIE,{"NB_Global":{"x":{"old":{}}}}]}`, true},
		"an update of the second kind":  {`{"id":null,"method":"update2","params":[COOKIE,{"NB_Global":{"x":null}}]}`, true},
		"an update with too many":       {`{"id":null,"method":"update3","params":[1,2,3,4]}`, true},
		"no update at all":              {`{"id":null,"method":"update3","params":[]}`, true},
		"an answer to nothing":          {`{"id":3,"result":[],"error":null}`, false},
		"unrequested_answer":            {`{"id":12345,"result":[],"error":null}`, true},
		"an answer without an id":       {`{"id":null,"result":[],"error":null}`, true},
		"no JSON":                       {`}`, true},
		"an echo":                       {`{"id":"echo","method":"echo","params":[]}`, false},
		"a long answer to nothing":      {`{"id":0,"result":"` + strings.Repeat("x", 1<<20) + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cookies, conns := make(chan string, 1), make(chan net.Conn, 1)
			server := newFake(t, func(r request, c net.Conn) *string {
				if r.Method == "monitor_cond_since" {
					cookies <- string(r.Params[1])
					conns <- c
				}
				return nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			w, err := new(ovsdb.Dialer).Watch(ctx, ovndb.NB, "key", server.endpoint)
			require.NoError(t, err)
			defer w.Close()
			c := <-conns
			_, err = c.Write([]byte(strings.ReplaceAll(test.text, "COOKIE", <-cookies)))
			require.NoError(t, err)
			if test.lost {
				select {
				case <-w.Lost():
				case <-ctx.Done():
					t.Fatal("the connection lasts")
				}
				return
			}
			value, err := w.Read(ctx)
			require.NoError(t, err)
			assert.Equal(t, "value", value)
		})
	}
}

// A server that closes the connection at the very end of Connect caused a race of the library's goroutines.
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

// Any answer and further output of a server has an end in time.
func FuzzAnswer(f *testing.F) {
	methods := []string{"list_dbs", "get_schema", "transact", "monitor_cond_since"}
	for _, test := range wrong {
		if len(test.answer) < 10_000 && len(test.result) < 10_000 {
			f.Add(uint(slices.Index(methods, test.method)), test.result, test.answer)
		}
	}
	f.Add(uint(3), since(`{"initial":{}}`), `{"id":null,"method":"update3","params":[COOKIE,"t",{"NB_Global":{"`+rowID+`":{"modify":{"external_ids":["map",[["a","b"]]]}}}}]}`)
	f.Add(uint(3), since(`{"initial":{}}`), `{"id":null,"method":"update3","params":[COOKIE,"t",{"NB_Global":{"`+rowID+`":{"delete":null}}}]}`)
	var method, result, more atomic.Value
	server := newFake(f, nil)
	server.answer = func(r request, c net.Conn) *string {
		if r.Method != method.Load() {
			return nil
		}
		cookie := "null"
		if r.Method == "monitor_cond_since" {
			cookie = string(r.Params[1])
		}
		text := strings.NewReplacer("ID", string(r.ID), "COOKIE", cookie).Replace(more.Load().(string))
		if result.Load() != "" {
			text = fmt.Sprintf(`{"id":%s,"result":%s,"error":null}`, r.ID, result.Load()) + text
		}
		_, _ = c.Write([]byte(text))
		_ = c.Close()
		return nil
	}
	f.Fuzz(func(t *testing.T, at uint, answer, then string) {
		method.Store(methods[at%uint(len(methods))])
		result.Store(answer)
		more.Store(then)
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		_ = use(ctx, server.endpoint)
		require.NoError(t, ctx.Err())
	})
}
