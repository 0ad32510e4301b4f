package hooktool

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// options are those of a tool, in the forms in which the charm and the tests call it: before
// its other arguments. A form of Juju's that nothing calls is refused.
type options struct {
	*flag.FlagSet
	format, relation string
}

func newOptions() *options {
	o := &options{FlagSet: flag.NewFlagSet("", flag.ContinueOnError)}
	o.SetOutput(io.Discard)
	return o
}

// prints adds --format, of which json alone is played.
func (o *options) prints() *options {
	o.StringVar(&o.format, "format", "", "")
	return o
}

// relates adds -r.
func (o *options) relates() *options {
	o.StringVar(&o.relation, "r", "", "")
	return o
}

// parse returns what follows the options, of which there have to be so many: -1 is any number.
func (o *options) parse(c *call, count int) ([]string, error) {
	err := o.FlagSet.Parse(c.request.Args)
	switch {
	case err == nil && o.Lookup("format") != nil && o.format != "json":
		err = errors.New("the lab prints JSON alone, by --format=json")
	case err == nil && count >= 0 && o.NArg() != count:
		err = fmt.Errorf("the lab doesn't play this form: %q", c.request.Args)
	}
	if err != nil {
		return nil, errUsage{err}
	}
	return o.Args(), nil
}

// chosen is the relation that -r names.
func (o *options) chosen(c *call) (*relation, error) {
	id, err := strconv.Atoi(o.relation[strings.LastIndex(o.relation, ":")+1:])
	if err != nil {
		return nil, errUsage{errors.New("no relation id specified")}
	}
	if r := c.relations[id]; r != nil {
		return r, nil
	}
	return nil, errUsage{fmt.Errorf("invalid value %q for option -r: relation not found", o.relation)}
}

// print writes an answer as JSON.
func (c *call) print(value any) error {
	return json.NewEncoder(&c.stdout).Encode(value)
}

// errUsage marks an error of the arguments: exit code 2 instead of 1.
type errUsage struct{ error }

func (e errUsage) Unwrap() error { return e.error }
