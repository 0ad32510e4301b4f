package rpc2

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Limits of a message. Of 10,000 gateways the longest answer is one of 20 MB. The schema of
// a database, and what a server says of itself, are below 100 KiB; in RFC 7047 the deepest
// nesting is that of a column's type in the answer that is a schema.
const (
	shortAnswer = 1 << 20
	longAnswer  = 128 << 20
	maxDepth    = 16
	maxError    = 1 << 10
)

// errMessage is what is wrong with a message that is none.
var errMessage = errors.New("the server has sent what is no message")

// answerTo is how long the answer to a call may be, and whatever comes after it.
func answerTo(method string, params []any) int64 {
	switch {
	case strings.HasPrefix(method, "monitor"), method == "transact" && len(params) > 0 && params[0] != "_Server":
		return longAnswer
	}
	return shortAnswer
}

// message is a request, or the answer to one. A part that is null is nil.
type message struct {
	Method string           `json:"method"`
	Params *json.RawMessage `json:"params"`
	ID     *json.RawMessage `json:"id"`
	Result *json.RawMessage `json:"result"`
	Error  *json.RawMessage `json:"error"`
}

// bounded reads from a connection no more of a message than it may have.
type bounded struct {
	c *Client
	// read is what was read, begin where in it the message begins.
	read, begin int64
}

func (b *bounded) Read(p []byte) (int, error) {
	b.c.mu.Lock()
	longest := b.c.longest
	b.c.mu.Unlock()
	if b.read-b.begin > longest {
		return 0, fmt.Errorf("the server has sent more than %d MiB as one message", longest>>20)
	}
	n, err := b.c.conn.Read(p)
	b.read += int64(n)
	return n, err
}

// read handles messages until there is an error. What libovsdb does with one may panic.
func (c *Client) read() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errMessage, p)
		}
	}()
	from := &bounded{c: c}
	messages := json.NewDecoder(from)
	for {
		var m message
		if err := messages.Decode(&m); err != nil {
			_, syntax := errors.AsType[*json.SyntaxError](err)
			if _, kind := errors.AsType[*json.UnmarshalTypeError](err); syntax || kind {
				err = fmt.Errorf("%w: %w", errMessage, err)
			}
			return err
		}
		from.begin = messages.InputOffset()
		for _, part := range []*json.RawMessage{m.Params, m.ID, m.Result, m.Error} {
			if part != nil && deep(*part) {
				return fmt.Errorf("%w: it nests deeper than %d", errMessage, maxDepth)
			}
		}
		if m.Method != "" {
			err = c.handle(m)
		} else {
			err = c.answer(m)
		}
		if err != nil {
			return err
		}
	}
}

// deep reports whether JSON nests deeper than a message may. The library goes through
// what is nested once for each level, and calls itself.
func deep(text []byte) bool {
	for depth := 0; len(text) > 0; {
		switch text[0] {
		case '[', '{':
			if depth++; depth > maxDepth {
				return true
			}
		case ']', '}':
			depth--
		case '"':
			text = text[1+end(text[1:]):]
		}
		text = text[1:]
	}
	return false
}

// hasNull reports whether JSON has a null.
func hasNull(text []byte) bool {
	for len(text) > 0 {
		switch text[0] {
		case 'n':
			return true
		case '"':
			text = text[1+end(text[1:]):]
		}
		text = text[1:]
	}
	return false
}

// end is where the quote stands that ends a string.
func end(text []byte) int {
	for from := 0; ; {
		quote := from + bytes.IndexByte(text[from:], '"')
		escapes := 0
		for escapes < quote && text[quote-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return quote
		}
		from = quote + 1
	}
}

// handle handles what the server sends of itself.
func (c *Client) handle(m message) error {
	h, known := c.handlers[m.Method]
	switch {
	case !known:
		return fmt.Errorf("%w: nothing has asked for %.40q", errMessage, m.Method)
	case m.Params == nil:
		return fmt.Errorf("%w: %s has no parameters", errMessage, m.Method)
	case strings.HasPrefix(m.Method, "update"):
		if err := c.checkUpdate(m.Method, *m.Params); err != nil {
			return err
		}
	}
	result, err := h(*m.Params)
	if errors.Is(err, errMessage) || m.ID == nil {
		if !errors.Is(err, errMessage) {
			err = nil // libovsdb has told its log of it
		}
		return err
	}
	answer := map[string]any{"id": m.ID, "result": result, "error": nil}
	if err != nil {
		answer["result"], answer["error"] = nil, err.Error()
	}
	return c.write(time.Now().Add(writeTimeout), answer)
}

// updates are the methods under which a server sends what has changed, by those that ask for
// it, with how many parameters.
var updates = map[string]struct {
	method string
	params int
}{"monitor": {"update", 2}, "monitor_cond": {"update2", 2}, "monitor_cond_since": {"update3", 3}}

// monitored is the key of a monitor, which is known by the value that it was asked for with.
func monitored(method string, params int, value any) string {
	text, _ := json.Marshal(value)
	var sorted map[string]any
	_ = json.Unmarshal(text, &sorted)
	text, _ = json.Marshal(sorted) // with its keys in order, as those of a struct need not be
	return fmt.Sprintf("%s %d %s", method, params, text)
}

// checkUpdate returns what is wrong with a change that the server sends. libovsdb would panic
// while it holds locks, and never end.
func (c *Client) checkUpdate(method string, params json.RawMessage) error {
	var parts []json.RawMessage
	var value map[string]any
	if json.Unmarshal(params, &parts) != nil || len(parts) < 2 || json.Unmarshal(parts[0], &value) != nil {
		return fmt.Errorf("%w: %s has other parameters", errMessage, method)
	}
	c.mu.Lock()
	known := c.monitors[monitored(method, len(parts), value)]
	c.mu.Unlock()
	switch {
	case !known:
		return fmt.Errorf("%w: %s is of no monitor", errMessage, method)
	case hasNull(parts[len(parts)-1]):
		return fmt.Errorf("%w: %s has a null", errMessage, method)
	}
	return nil
}

// answer hands an answer to the call that waits for it. It may wait no more.
func (c *Client) answer(m message) error {
	var id uint64
	if m.ID == nil {
		return fmt.Errorf("%w: it has no id", errMessage)
	}
	if err := json.Unmarshal(*m.ID, &id); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if id > last {
		return fmt.Errorf("%w: it answers %d, which nothing has asked", errMessage, id)
	}
	call := c.take(id)
	switch {
	case call == nil:
	case m.Error != nil:
		call.end(ServerError(said(*m.Error)))
	case m.Result == nil:
		call.end(fmt.Errorf("%w: it has no result", errMessage))
	default:
		call.end(decode(*m.Result, call.reply))
	}
	return nil
}

// decode decodes a result. It may panic as libovsdb does; then the call, which nothing else
// knows any more, ends with the error, and the connection lasts.
func decode(result json.RawMessage, reply any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errMessage, p)
		}
	}()
	return json.Unmarshal(result, reply)
}

// said is the text of an error: a string, or what OVSDB calls an <error>, of one line.
func said(text json.RawMessage) string {
	var object struct{ Error, Details string }
	s := ""
	if json.Unmarshal(text, &s) != nil {
		s = string(text)
		if json.Unmarshal(text, &object) == nil && object.Error != "" {
			s = strings.TrimSuffix(object.Error+": "+object.Details, ": ")
		}
	}
	if s == "" {
		return "unspecified error"
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s[:min(len(s), maxError)])
	return s
}
