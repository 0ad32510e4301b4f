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

// Limits of a message. The longest answer about 10,000 gateways has 20 MB. The schema of a database, and the rows of
// _Server, have less than 100 KiB. The deepest nesting in RFC 7047 is the type of a column in a schema.
const (
	shortAnswer = 1 << 20
	longAnswer  = 128 << 20
	maxDepth    = 16
	maxError    = 1 << 10
)

// errMessage is returned for a malformed message.
var errMessage = errors.New("the server has sent a malformed message")

// answerTo returns the limit, in bytes, of the answer to a call and of all messages after it.
func answerTo(method string, params []any) int64 {
	switch {
	case strings.HasPrefix(method, "monitor"), method == "transact" && len(params) > 0 && params[0] != "_Server":
		return longAnswer
	}
	return shortAnswer
}

// message is a request or an answer. A null part is nil.
type message struct {
	Method string           `json:"method"`
	Params *json.RawMessage `json:"params"`
	ID     *json.RawMessage `json:"id"`
	Result *json.RawMessage `json:"result"`
	Error  *json.RawMessage `json:"error"`
}

// bounded reads from a connection and fails if a message exceeds its limit.
type bounded struct {
	c *Client
	// read counts the bytes read so far. The current message starts at begin.
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

// read handles messages until an error. It turns a panic of libovsdb's handlers into an error.
func (c *Client) read() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errMessage, p)
		}
	}()
	from := &bounded{c: c}
	messages := json.NewDecoder(from)
	for {
		m, err := receive(messages)
		if err != nil {
			return err
		}
		from.begin = messages.InputOffset()
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

// receive reads one message.
func receive(messages *json.Decoder) (m message, err error) {
	if err := messages.Decode(&m); err != nil {
		_, syntax := errors.AsType[*json.SyntaxError](err)
		if _, kind := errors.AsType[*json.UnmarshalTypeError](err); syntax || kind {
			err = fmt.Errorf("%w: %w", errMessage, err)
		}
		return m, err
	}
	for _, part := range []*json.RawMessage{m.Params, m.ID, m.Result, m.Error} {
		if part != nil && deep(*part) {
			return m, fmt.Errorf("%w: it nests deeper than %d", errMessage, maxDepth)
		}
	}
	return m, nil
}

// deep reports whether JSON nests deeper than maxDepth. libovsdb decodes nested values recursively, and does so once
// more for each level.
func deep(text []byte) bool {
	depth := 0
	return outside(text, func(c byte) bool {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		return depth > maxDepth
	})
}

// hasNull reports whether JSON contains a null.
func hasNull(text []byte) bool { return outside(text, func(c byte) bool { return c == 'n' }) }

// outside reports whether found is true for a byte outside of the strings of JSON.
func outside(text []byte, found func(byte) bool) bool {
	for len(text) > 0 {
		if text[0] == '"' {
			text = text[1+end(text[1:]):]
		} else if found(text[0]) {
			return true
		}
		text = text[1:]
	}
	return false
}

// end returns the index of the quote that ends a string.
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

// handle handles a notification or a call of the server.
func (c *Client) handle(m message) error {
	h, known := c.handlers[m.Method]
	switch {
	case !known:
		return fmt.Errorf("%w: unknown method %.40q", errMessage, m.Method)
	case m.Params == nil:
		return fmt.Errorf("%w: %s has no parameters", errMessage, m.Method)
	case strings.HasPrefix(m.Method, "update"):
		if err := c.checkUpdate(m.Method, *m.Params); err != nil {
			return err
		}
	}
	result, err := h(*m.Params)
	switch {
	case errors.Is(err, errMessage):
		return err
	case m.ID == nil:
		return nil // libovsdb has logged an error
	}
	answer := map[string]any{"id": m.ID, "result": result, "error": nil}
	if err != nil {
		answer["result"], answer["error"] = nil, err.Error()
	}
	return c.write(time.Now().Add(writeTimeout), answer)
}

// canonical returns a monitor's value as JSON with sorted keys. The keys of a struct may be in any order.
func canonical(value any) string {
	text, _ := json.Marshal(value)
	var sorted map[string]any
	_ = json.Unmarshal(text, &sorted)
	text, _ = json.Marshal(sorted)
	return string(text)
}

// checkUpdate returns an error for a malformed update, and for any kind except update3, which follows
// monitor_cond_since. For these libovsdb would panic while it holds locks, and block forever.
func (c *Client) checkUpdate(method string, params json.RawMessage) error {
	var parts []json.RawMessage
	var value map[string]any
	if json.Unmarshal(params, &parts) != nil || len(parts) != 3 || json.Unmarshal(parts[0], &value) != nil {
		return fmt.Errorf("%w: %s has wrong parameters", errMessage, method)
	}
	c.mu.Lock()
	known := method == "update3" && c.monitors[canonical(value)]
	c.mu.Unlock()
	switch {
	case !known:
		return fmt.Errorf("%w: %s is for an unknown monitor", errMessage, method)
	case hasNull(parts[2]):
		return fmt.Errorf("%w: %s has a null", errMessage, method)
	}
	return nil
}

// answer ends the call with the answer's id, if that call is still waiting.
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
		return fmt.Errorf("%w: an answer to %d, which was never called", errMessage, id)
	}
	call := c.take(id)
	switch {
	case call == nil:
	case m.Error != nil:
		call.end(ServerError(errorText(*m.Error)))
	case m.Result == nil:
		call.end(fmt.Errorf("%w: it has no result", errMessage))
	default:
		call.end(decode(*m.Result, call.reply))
	}
	return nil
}

// decode decodes a result. If libovsdb's types panic, it returns an error for this call; the connection stays usable.
func decode(result json.RawMessage, reply any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errMessage, p)
		}
	}()
	return json.Unmarshal(result, reply)
}

// errorText returns the text of an error, on one line. The error is a string or an <error> (RFC 7047, section 3.1).
func errorText(text json.RawMessage) string {
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
