// Package rpc2 is a client of JSON-RPC 1.0 that also serves calls of the server. It replaces github.com/cenkalti/rpc2
// for libovsdb (see go.mod) and has the functions that libovsdb uses. The original reads messages of any length. If a
// server's answer is wrong, the original or libovsdb panics in a goroutine where no caller can recover.
//
// This package limits the length of a message and the time of a write. A panic ends the connection with an error. The
// package handles messages in the order in which they arrive.
package rpc2

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Codec is the connection that a client uses.
type Codec = net.Conn

// ErrShutdown is returned by a call on a closed connection.
var ErrShutdown = errors.New("connection is shut down")

// ServerError is an error with which a server has answered.
type ServerError string

func (e ServerError) Error() string { return string(e) }

// writeTimeout bounds one write: a server may read nothing, and the deadline may be far away.
const writeTimeout = 10 * time.Second

// Call is a call in progress.
type Call struct {
	reply any
	Error error
	Done  chan *Call
}

func (c *Call) end(err error) {
	c.Error = err
	c.Done <- c
}

// handler handles a notification or a call of the server.
type handler func(params json.RawMessage) (result []any, err error)

// Client is one end of a connection.
type Client struct {
	conn     Codec
	handlers map[string]handler
	// sending is locked during a write.
	sending sync.Mutex

	mu      sync.Mutex
	last    uint64
	pending map[uint64]*Call
	// longest is the length of the longest message that is expected by now; it never exceeds most.
	longest, most int64
	// monitors has the values with which monitors were requested; see [canonical].
	monitors map[string]bool
	closed   bool
	// cause is the error of the write that closed the connection. ended is the reason why reading ended.
	cause, ended error
	// disconnected is closed only after held is closed; a nil held does not delay it.
	held         <-chan struct{}
	disconnected chan struct{}
}

// NewClientWithCodec returns a client. [Client.Run] reads what the server sends.
func NewClientWithCodec(conn Codec) *Client {
	return &Client{
		conn: conn, handlers: map[string]handler{}, pending: map[uint64]*Call{}, longest: shortAnswer,
		most: longAnswer, monitors: map[string]bool{}, disconnected: make(chan struct{}),
	}
}

// Limit limits the length of each message, in bytes. Call it before [Client.Run].
func (c *Client) Limit(most int64) { c.most = most }

// SetBlocking does nothing: a client always handles messages one after the other.
func (c *Client) SetBlocking(bool) {}

// Handle registers f for a method that the server calls. The type of f is func(*Client, []T,
// *[]any) error, where T is any or [json.RawMessage]. Handle panics for any other type.
func (c *Client) Handle(method string, f any) {
	switch f := f.(type) {
	case func(*Client, []any, *[]any) error:
		c.handlers[method] = handlerOf(c, f)
	case func(*Client, []json.RawMessage, *[]any) error:
		c.handlers[method] = handlerOf(c, f)
	default:
		panic(fmt.Sprintf("rpc2: %T is not a handler", f))
	}
}

func handlerOf[T any](c *Client, f func(*Client, []T, *[]any) error) handler {
	return func(params json.RawMessage) (result []any, err error) {
		var args []T
		if err := json.Unmarshal(params, &args); err != nil {
			return nil, fmt.Errorf("%w: %w", errMessage, err)
		}
		err = f(c, args, &result)
		return result, err
	}
}

// holds is the context key for [Hold].
type holds struct{}

// Hold returns a context for libovsdb's Connect. A client that is called with it closes DisconnectNotify only after
// release. Otherwise libovsdb may end its goroutines before Connect has started them.
func Hold(ctx context.Context) (held context.Context, release func()) {
	released := make(chan struct{})
	return context.WithValue(ctx, holds{}, (<-chan struct{})(released)), sync.OnceFunc(func() { close(released) })
}

// CallWithContext calls a method of the server. It waits for the answer or the end of ctx.
func (c *Client) CallWithContext(ctx context.Context, method string, args, reply any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if held, ok := ctx.Value(holds{}).(<-chan struct{}); ok {
		c.mu.Lock()
		c.held = held
		c.mu.Unlock()
	}
	by := time.Now().Add(writeTimeout)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(by) {
		by = deadline
	}
	call := &Call{reply: reply, Done: make(chan *Call, 1)}
	id := c.begin(method, args, call, by)
	select {
	case <-call.Done:
		return call.Error
	case <-ctx.Done():
		c.take(id)
		return ctx.Err()
	}
}

// Go calls a method of the server without waiting. The channel done must have a buffer.
func (c *Client) Go(method string, args, reply any, done chan *Call) *Call {
	call := &Call{reply: reply, Done: done}
	c.begin(method, args, call, time.Now().Add(writeTimeout))
	return call
}

func (c *Client) begin(method string, args any, call *Call, by time.Time) (id uint64) {
	c.mu.Lock()
	if c.closed || c.ended != nil {
		c.mu.Unlock()
		call.end(ErrShutdown)
		return 0
	}
	c.last++
	id = c.last
	c.pending[id] = call
	params, ok := args.([]any)
	if !ok {
		params = []any{args}
	}
	c.longest = max(c.longest, min(c.most, answerTo(method, params)))
	if method == "monitor_cond_since" && len(params) > 1 {
		c.monitors[canonical(params[1])] = true
	}
	c.mu.Unlock()
	if err := c.write(by, map[string]any{"id": id, "method": method, "params": params}); err != nil && c.take(id) != nil {
		call.end(err)
	}
	return id
}

// take removes and returns the call with an id; nil if no call with it is waiting.
func (c *Client) take(id uint64) *Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.pending[id]
	delete(c.pending, id)
	return call
}

// write sends a message. After an error it closes the connection, since the server would take the rest of a partly
// sent message for the start of the next one.
func (c *Client) write(by time.Time, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.conn.SetWriteDeadline(by); err != nil {
		return err
	}
	_, err = c.conn.Write(append(text, '\n'))
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.DeadlineExceeded
	}
	c.mu.Lock()
	c.cause = cmp.Or(c.cause, err)
	c.mu.Unlock()
	_ = c.conn.Close()
	return err
}

// Run reads what the server sends until the connection ends.
func (c *Client) Run() {
	err := c.read()
	_ = c.conn.Close()
	c.mu.Lock()
	switch {
	case c.closed:
		err = ErrShutdown
	case c.cause != nil:
		err = c.cause
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	c.ended = err
	pending, held := c.pending, c.held
	c.pending = nil
	c.mu.Unlock()
	for _, call := range pending {
		call.end(err)
	}
	if held != nil {
		<-held
	}
	close(c.disconnected)
}

// Close ends the connection.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	return c.conn.Close()
}

// DisconnectNotify returns a channel that is closed after the connection has ended.
func (c *Client) DisconnectNotify() chan struct{} { return c.disconnected }
