package ufw

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

// timeout limits one call of ufw. A call takes a fraction of a second, but waits for other changes of rules. On a
// busy machine, switching ufw on has taken more than 30 s.
const timeout = 2 * time.Minute

// Reasons, other than failures, why ufw shows no rules.
var (
	ErrAbsent   = errors.New("ufw is not installed")
	ErrInactive = errors.New("ufw is inactive")
)

// Firewall is ufw on this host.
type Firewall struct{ Runner run.Runner }

// Ensure sets the wanted rules, with one call of ufw for each change. It switches ufw on if it is off. An address
// that stays allowed is allowed all the time. Rules of other programs and people stay; see [Comment]. Without ufw it
// returns [ErrAbsent]. After another error the next call continues. If another party's rule blocks an address, Ensure
// returns the error after it has made all other changes.
func (f Firewall) Ensure(ctx context.Context, want Rules) error {
	have, err := f.rules(ctx)
	if errors.Is(err, ErrInactive) {
		if err = f.enable(ctx); err == nil {
			have, err = f.rules(ctx)
		}
	}
	if err != nil {
		return err
	}
	p := compare(have, want)
	if err := f.delete(ctx, p.misplaced); err != nil {
		return err
	}
	blocked, err := f.admit(ctx, have, p.admit)
	if err != nil {
		return err
	}
	for _, r := range p.forAll {
		// The rule is for both families. If ufw does not do IPv6, half of the rule is always missing; ufw then skips the
		// half that it has.
		if _, err := f.add(ctx, r); err != nil {
			return err
		}
	}
	return errors.Join(f.delete(ctx, p.stale), blocked)
}

// enable switches ufw on, with everything allowed that no rule forbids, so that no session on the machine ends. If
// ufw is on already, its defaults are an operator's choice.
func (f Firewall) enable(ctx context.Context) error {
	// Set the defaults first: ufw's own defaults would block new connections.
	for _, line := range []string{
		"default allow incoming", "default allow outgoing", "default allow routed", "--force enable",
	} {
		if _, err := f.ufw(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// Admit admits peers in addition to the addresses that may connect already, and revokes nothing. It fails as
// [Firewall.Ensure] does, and returns [ErrInactive] if ufw is off.
func (f Firewall) Admit(ctx context.Context, peers []netip.Addr) error {
	have, err := f.rules(ctx)
	if err != nil {
		return err
	}
	blocked, err := f.admit(ctx, have, compare(have, Rules{Peers: peers}).admit)
	return errors.Join(err, blocked)
}

// admit puts the rules before all others. ufw does not accept a rule if it has another rule for the same packets,
// whatever the place and action of that rule (0.36.2 answers "Skipping inserting existing rule"). blocked then has
// the remedy for the first such rule.
func (f Firewall) admit(ctx context.Context, have, rules []rule) (blocked, err error) {
	for _, r := range rules {
		added, err := f.add(ctx, r, "prepend")
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(have, func(h rule) bool {
			return !h.ours && h.from == r.from && slices.Equal(h.ports, r.ports)
		})
		if !added && i >= 0 && blocked == nil {
			blocked = fmt.Errorf("cannot let %s in beside a rule that is not the charm's; run: sudo ufw delete %s",
				r.from.Addr(), strings.Join(have[i].words(), " "))
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
	lacks := func(r rule) bool {
		return !decided(have, r.ports[0], anywhere4) || six && !decided(have, r.ports[0], anywhere6)
	}
	return len(p.misplaced)+len(p.admit)+len(p.stale) > 0 || slices.ContainsFunc(p.forAll, lacks), nil
}

// Remove removes all of the charm's rules. It first removes those that reject. It returns [ErrAbsent] without ufw,
// and [ErrInactive] if ufw is off. ufw stays on: others may rely on it.
func (f Firewall) Remove(ctx context.Context) error {
	rules, err := f.rules(ctx)
	if err != nil {
		return err
	}
	rules = slices.DeleteFunc(rules, func(r rule) bool { return !r.ours })
	slices.SortStableFunc(rules, func(a, b rule) int { return strings.Compare(string(b.action), string(a.action)) })
	return f.delete(ctx, rules)
}

// add reports whether ufw added the rule. If not, ufw has a rule for the same packets.
func (f Firewall) add(ctx context.Context, r rule, before ...string) (added bool, err error) {
	out, err := f.ufw(ctx, slices.Concat(before, r.words(), []string{"comment", Comment})...)
	return err == nil && strings.Contains(out, "Rule"), err // added, inserted or updated; otherwise skipped
}

// delete removes rules by content. It does not use their numbers, which may be those of other rules by now. One
// command removes a rule for all addresses from both families.
func (f Firewall) delete(ctx context.Context, rules []rule) error {
	deleted := map[string]bool{}
	for _, r := range rules {
		text := strings.Join(r.words(), " ")
		if deleted[text] {
			continue
		}
		if _, err := f.ufw(ctx, append([]string{"delete"}, r.words()...)...); err != nil {
			return err
		}
		deleted[text] = true
	}
	return nil
}

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
	out, err := f.Runner.Run(ctx, run.Command{Name: "ufw", Args: args})
	switch {
	case run.Missing(err):
		return "", ErrAbsent
	case err != nil:
		return "", fmt.Errorf("cannot run ufw %s: %w", args[0], err)
	}
	return string(out), nil
}
