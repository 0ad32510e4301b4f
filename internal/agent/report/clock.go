package report

import (
	"fmt"
	"math"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

// ClockSlack is by how much clocks may differ. A certificate that vault issues is valid from 30 seconds before its
// issue (not_before_duration of the PKI secrets engine's roles), so a machine with a clock that is further behind
// refuses it.
const ClockSlack = 30 * time.Second

// ClockAhead is by how much another machine's clock is at least ahead of this one's, by the second that it named in its
// answer: negative if it is behind, 0 if both may agree. asked and answered are by this machine's clock.
func ClockAhead(named, asked, answered time.Time) time.Duration {
	switch latest := named.Add(time.Second); {
	case named.After(answered):
		return named.Sub(answered)
	case latest.Before(asked):
		return latest.Sub(asked)
	}
	return 0
}

// WrongClock is a unit with a clock that differs from this one's by more than [ClockSlack].
type WrongClock struct {
	Unit  string
	Ahead time.Duration
}

func (c WrongClock) String() string {
	how := "ahead of"
	if c.Ahead < 0 {
		how = "behind"
	}
	return fmt.Sprintf("clock: %s is %s %s this unit: certificates are not valid for both; look at: %s", c.Unit,
		Seconds(math.Abs(c.Ahead.Seconds())), how, shell.Line("juju", "ssh", c.Unit, "timedatectl"))
}

// WrongClocks are those of the peers, in their order. If this unit's own clock is wrong, all are listed.
func (s Status) WrongClocks() (all []WrongClock) {
	for _, p := range s.Peers {
		ahead := time.Duration(p.ClockAheadSeconds * float64(time.Second))
		if ahead.Abs() > ClockSlack && p.Unit != "" {
			all = append(all, WrongClock{p.Unit, ahead})
		}
	}
	return all
}
