package juju

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Limits for data that other units publish, in bytes. The longest valid value is a list of certificates, which has
// less than 200 KiB.
const (
	maxValue  = 1 << 20
	maxData   = 8 << 20
	maxOutput = 64 << 20 // of a tool's output, which includes maxData
)

// data reads the data of another unit or application: strings by their keys. Too much data is not an error, since one
// unit could then make the hooks of all others fail. It replaces a value that is too long by a text with its length,
// which every reader refuses as malformed, and does not change the other values. If the total is too long, it keeps
// only the first keys.
func (t *Tools) data(ctx context.Context, tool string, args ...string) (map[string]string, error) {
	kept := new(output)
	out, err := t.call(ctx, run.Command{Name: tool, Args: append([]string{"--format=json"}, args...), Stdout: kept})
	if err != nil {
		return nil, err
	}
	_, _ = kept.Write(out) // for a runner that ignores Stdout
	values, err := readData(&kept.text)
	if err != nil && !kept.full {
		return nil, undocumented(tool, err)
	}
	return values, nil
}

// readData reads a JSON object of strings, or null. After an error it returns the pairs before it.
func readData(text io.Reader) (values map[string]string, err error) {
	decoder := json.NewDecoder(text)
	begin, err := decoder.Token()
	if err != nil || begin == nil {
		return nil, err
	}
	if begin != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	values = map[string]string{}
	for room := maxData; decoder.More(); {
		key, err := decoder.Token()
		if err != nil {
			return values, err
		}
		var value string
		if err := decoder.Decode(&value); err != nil {
			return values, err
		}
		name := shortened(key.(string), room) //nolint:forcetypeassert // keys are strings, otherwise Token fails
		values[name] = shortened(value, room-len(name))
		if room -= len(name) + len(values[name]); room < -maxValue {
			return values, nil
		}
	}
	_, err = decoder.Token()
	return values, err
}

// shortened replaces a text that is too long by a short text with its length.
func shortened(text string, room int) string {
	if len(text) <= min(maxValue, max(room, maxNote)) {
		return text
	}
	return fmt.Sprintf("(%d bytes, too long)", len(text))
}

// maxNote is the greatest length of the text that replaces a long one.
const maxNote = 32

func decode(text []byte, answer any, tool string) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return undocumented(tool, decoder.Decode(answer))
}

// undocumented returns an error if an answer could not be decoded.
func undocumented(tool string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: the answer is not what Juju documents: %w", tool, err)
}

// output keeps the first bytes that are written to it. full reports whether there were more.
type output struct {
	text bytes.Buffer
	full bool
}

// Write implements [io.Writer]. It never fails.
func (o *output) Write(p []byte) (int, error) {
	rest := p
	if room := maxOutput - o.text.Len(); len(p) > room {
		rest, o.full = p[:room], true
	}
	o.text.Write(rest)
	return len(p), nil
}
