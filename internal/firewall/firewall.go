package firewall

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// timeout limits one call of ufw. It takes a fraction of a second, but waits for other changes of rules; switching it
// on has taken more than 30 s on a busy machine.
const timeout = 2 * time.Minute

// Reasons why the firewall is not maintained that are no faults.
var (
	// ErrAbsent: ufw is not installed.
	ErrAbsent = errors.New("ufw is not installed")
	// ErrInactive: ufw is off, and does not show its rules.
	ErrInactive = errors.New("ufw is inactive")
)

// Changes are the added and removed rules, as a person would type them.
type Changes struct{ Added, Deleted []string }

// Firewall is ufw on this host.
type Firewall struct{ Runner run.Runner }

// Initialize switches ufw on, with everything allowed that no rule forbids, so that no person who works on the machine
// is cut off. It does nothing if ufw is on, since then an operator chose its default. It reports whether it did, and
// returns [ErrAbsent] without ufw.
func (f Firewall) Initialize(ctx context.Context) (bool, error) {
	if _, err := f.rules(ctx); !errors.Is(err, ErrInactive) {
		return false, err
	}
	// The defaults first: ufw's own would cut off new connections.
	for _, args := range [][]string{
		{"default", "allow", "incoming"},
		{"default", "allow", "outgoing"},
		{"default", "allow", "routed"},
		{"--force", "enable"},
	} {
		if _, err := f.ufw(ctx, args...); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Ensure makes the rules as wanted, with one call of ufw for each change. An address that stays allowed is allowed all
// the time. Rules of others stay; see [Comment]. It fails with [ErrAbsent] and [ErrInactive]. After another error the
// next call continues, and Changes has what was done. If another's rule blocks an address, Ensure makes all other
// changes before it fails.
func (f Firewall) Ensure(ctx context.Context, want Rules) (Changes, error) {
	var done Changes
	have, err := f.rules(ctx)
	if err != nil {
		return done, err
	}
	p := compare(have, want)
	if err := f.delete(ctx, &done, p.misplaced); err != nil {
		return done, err
	}
	blocked, err := f.admit(ctx, &done, have, p.admit)
	if err != nil {
		return done, err
	}
	if err := f.forAll(ctx, &done, allow, p.open); err != nil {
		return done, err
	}
	if err := f.forAll(ctx, &done, reject, p.closed); err != nil {
		return done, err
	}
	if err := f.delete(ctx, &done, p.stale); err != nil {
		return done, err
	}
	return done, blocked
}

// Admit admits peers in addition to those that may connect already, and revokes nothing. It fails as [Firewall.Ensure]
// does.
func (f Firewall) Admit(ctx context.Context, peers []netip.Addr) (Changes, error) {
	var done Changes
	have, err := f.rules(ctx)
	if err != nil {
		return done, err
	}
	blocked, err := f.admit(ctx, &done, have, compare(have, Rules{Peers: peers}).admit)
	if err != nil {
		return done, err
	}
	return done, blocked
}

// admit puts the rules before all others. ufw accepts none beside another's rule about the same packets, regardless of
// that rule's place and action (0.36.2 answers "Skipping inserting existing rule"): blocked is the remedy for the first
// such rule.
func (f Firewall) admit(ctx context.Context, done *Changes, have, rules []rule) (blocked, err error) {
	for _, r := range rules {
		added, err := f.add(ctx, done, append([]string{"prepend", string(r.action)}, r.words()...))
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(have, func(h rule) bool {
			return !h.ours && h.from == r.from && slices.Equal(h.ports, r.ports)
		})
		if !added && i >= 0 && blocked == nil {
			blocked = fmt.Errorf("cannot let %s in beside a rule that is not the charm's; run: sudo ufw delete %s %s",
				r.from.Addr(), have[i].action, strings.Join(have[i].words(), " "))
		}
	}
	return blocked, nil
}

// Drifted reports whether [Firewall.Ensure] would change the rules. It changes nothing, calls ufw once, and fails with
// [ErrAbsent] and [ErrInactive].
func (f Firewall) Drifted(ctx context.Context, want Rules) (bool, error) {
	have, err := f.rules(ctx)
	if err != nil {
		return false, err
	}
	p := compare(have, want)
	// If ufw does not do IPv6, no rule of that family is missing.
	six := slices.ContainsFunc(have, func(r rule) bool { return r.from.Addr().Is6() })
	lacks := func(port uint16) bool {
		return len(undecidedIn(have, []uint16{port}, anywhere4)) > 0 ||
			six && len(undecidedIn(have, []uint16{port}, anywhere6)) > 0
	}
	return len(p.misplaced)+len(p.admit)+len(p.stale) > 0 || slices.ContainsFunc(append(p.open, p.closed...), lacks), nil
}

// Remove removes all of our rules, first those that deny. It fails with [ErrAbsent] and [ErrInactive]. ufw stays on:
// others may rely on it.
func (f Firewall) Remove(ctx context.Context) (Changes, error) {
	var done Changes
	rules, err := f.rules(ctx)
	if err != nil {
		return done, err
	}
	rules = slices.DeleteFunc(rules, func(r rule) bool { return !r.ours })
	slices.SortStableFunc(rules, func(a, b rule) int { return strings.Compare(string(b.action), string(a.action)) })
	return done, f.delete(ctx, &done, rules)
}

// forAll adds a rule about each port for all addresses, of both families. If ufw does not do IPv6, half of them are
// always missing, and ufw skips the existing ones.
func (f Firewall) forAll(ctx context.Context, done *Changes, what action, ports []uint16) error {
	for _, port := range ports {
		words := rule{ports: []uint16{port}, from: anywhere4}.words()
		if _, err := f.add(ctx, done, append([]string{string(what)}, words...)); err != nil {
			return err
		}
	}
	return nil
}

// add reports whether ufw accepted the rule; otherwise it has an equal one.
func (f Firewall) add(ctx context.Context, done *Changes, words []string) (added bool, err error) {
	out, err := f.ufw(ctx, append(slices.Clone(words), "comment", Comment)...)
	added = err == nil && strings.Contains(out, "Rule") // added, inserted or updated; otherwise skipped
	if added {
		done.Added = append(done.Added, strings.Join(words, " "))
	}
	return added, err
}

// delete removes rules by content, not by number, which may be another rule's by now. One command removes a rule for
// all addresses from both families.
func (f Firewall) delete(ctx context.Context, done *Changes, rules []rule) error {
	for _, r := range rules {
		words := append([]string{string(r.action)}, r.words()...)
		text := strings.Join(words, " ")
		if slices.Contains(done.Deleted, text) {
			continue
		}
		if _, err := f.ufw(ctx, append([]string{"delete"}, words...)...); err != nil {
			return err
		}
		done.Deleted = append(done.Deleted, text)
	}
	return nil
}

// rules are ufw's rules, in order.
func (f Firewall) rules(ctx context.Context) ([]rule, error) {
	out, err := f.ufw(ctx, "status", "numbered")
	if err != nil {
		return nil, err
	}
	active, rules := parseStatus(out)
	if !active {
		return nil, ErrInactive
	}
	return rules, nil
}

func (f Firewall) ufw(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	command := run.Command{Name: "ufw", Args: args}
	out, err := f.Runner.Run(ctx, command)
	switch {
	case run.Missing(err):
		return "", ErrAbsent
	case err != nil:
		return "", fmt.Errorf("cannot run %s %s: %w", command.Name, args[0], err)
	}
	return string(out), nil
}
