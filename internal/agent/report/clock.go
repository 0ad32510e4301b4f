package report

import (
	"fmt"
	"math"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

// ClockSlack is by how much clocks may differ: a certificate that vault issues is valid
// from 30 seconds before on (not_before_duration of the PKI secrets engine's roles), so a
// machine whose clock is further behind refuses each new one.
const ClockSlack = 30 * time.Second

// ClockAhead is by how much another machine's clock is ahead of this one's at least, by the
// second that it named while it was asked; negative where it is behind, 0 where both may
// be the same. asked and answered are by this machine's clock.
func ClockAhead(named, asked, answered time.Time) time.Duration {
	switch latest := named.Add(time.Second); {
	case named.After(answered):
		return named.Sub(answered)
	case latest.Before(asked):
		return latest.Sub(asked)
	}
	return 0
}

// WrongClock is a unit whose clock differs from this one's by more than [ClockSlack].
type WrongClock struct {
	Unit  string
	Ahead time.Duration
}

// String is one line.
func (c WrongClock) String() string {
	how := "ahead of"
	if c.Ahead < 0 {
		how = "behind"
	}
	return fmt.Sprintf("clock: %s is %s %s this unit: certificates are not valid for both; look at: %s", c.Unit, Seconds(math.Abs(c.Ahead.Seconds())), how, shell.Line("juju", "ssh", c.Unit, "timedatectl"))
}

// WrongClocks are those of the peers, in their order. Where this unit's own is wrong, they
// are all.
func (s Status) WrongClocks() (all []WrongClock) {
	for _, p := range s.Peers {
		ahead := time.Duration(p.ClockAheadSeconds * float64(time.Second))
		if ahead.Abs() > ClockSlack && p.Unit != "" {
			all = append(all, WrongClock{p.Unit, ahead})
		}
	}
	return all
}
