package agent

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// query parses the parameters of a request and collects their errors.
type query struct {
	values url.Values
	known  map[string]bool
	bad    []string
}

func newQuery(values url.Values) *query { return &query{values: values, known: map[string]bool{}} }

// wrong returns the answer to a request with invalid parameters; nil if all are valid.
func (q *query) wrong() *answer.Status {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !q.known[name] {
			q.bad = append(q.bad, fmt.Sprintf("there is no parameter %s; there are %v", name, slices.Sorted(maps.Keys(q.known))))
		}
	}
	if len(q.bad) == 0 {
		return nil
	}
	return new(answer.New(answer.BadRequest, strings.Join(q.bad, "; ")))
}

// one returns the parameter under the first of its names that is given.
func (q *query) one(names ...string) (name, value string, given bool) {
	for _, n := range names {
		q.known[n] = true
		if !given && q.values.Has(n) {
			name, value, given = n, q.values.Get(n), true
		}
	}
	return name, value, given
}

// number parses the parameter under the first of its names that is given: a whole number from least to most.
func (q *query) number(otherwise, least, most int, names ...string) int {
	name, value, given := q.one(names...)
	if !given {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		q.bad = append(q.bad, fmt.Sprintf("%s is %q: it takes a whole number from %d to %d", name, value, least, most))
	}
	return n
}

// seconds parses a whole number of seconds, from least to [maintenance.MaxTimeout].
func (q *query) seconds(otherwise time.Duration, least int, names ...string) time.Duration {
	most := int(maintenance.MaxTimeout / time.Second)
	return time.Duration(q.number(int(otherwise/time.Second), least, most, names...)) * time.Second
}

// limits parses those of a drain.
func (q *query) limits(timeout, grace string) maintenance.Limits {
	var l maintenance.Limits
	l.Timeout = q.seconds(maintenance.DefaultTimeout, 1, timeout)
	l.Grace = q.seconds(maintenance.GraceFor(l.Timeout), 0, grace)
	return l
}

// flag parses true or false; the default is false.
func (q *query) flag(name string) bool {
	_, value, given := q.one(name)
	if given && value != "true" && value != "false" {
		q.bad = append(q.bad, fmt.Sprintf("%s is %q: it takes true or false", name, value))
	}
	return value == "true"
}
