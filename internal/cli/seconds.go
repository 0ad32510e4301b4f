package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// seconds is a duration flag: a plain number means seconds, as in the actions' parameters, so that values can be copied
// from one to the other.
type seconds time.Duration

func (s *seconds) String() string { return time.Duration(*s).String() }

// Type is the value's name in --help.
func (s *seconds) Type() string { return "duration" }

// Set takes 90, 90s or 1m30s.
func (s *seconds) Set(text string) error {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		*s = seconds(time.Duration(n) * time.Second) //nolint:gosec // 31 bits
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("it must be a number of seconds, or such as 90s, 15m, 1h30m")
	}
	*s = seconds(d)
	return nil
}

// secondsVar defines a duration flag.
func secondsVar(flags *pflag.FlagSet, d *time.Duration, name string, value time.Duration, usage string) {
	*d = value
	flags.Var((*seconds)(d), name, usage)
}
