package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// firewall is what ufw(8) keeps, of the commands that the charm and tests give. Nothing is filtered: tests look at it.
type firewall struct {
	Enabled bool
	V4, V6  []rule
}

// rule is one rule of one family, for what comes in to any address of the machine.
type rule struct {
	Action               string // allow, reject
	From                 string // empty: any
	Port, Proto, Comment string
}

// same reports whether two rules are about the same packets.
func (r rule) same(other rule) bool {
	other.Action, other.Comment = r.Action, r.Comment
	return r == other
}

func (m *Machine) firewallFile() string { return filepath.Join(m.Dir, "ufw.json") }

// ufw is the program, as root runs it.
func (t *tool) ufw(args []string) int {
	var f firewall
	if data, err := os.ReadFile(t.firewallFile()); err == nil {
		_ = json.Unmarshal(data, &f) // written by writeJSON
	}
	said, err := f.run(args)
	if err == nil && args[0] != "status" {
		err = writeJSON(t.firewallFile(), f)
	}
	if err != nil {
		fmt.Fprintf(t.errs, "ERROR: %v\n", err)
		return exitFailure
	}
	fmt.Fprint(t.out, said)
	return 0
}

// errSyntax is ufw's error about a command that it doesn't take.
var errSyntax = errors.New("Invalid syntax") //nolint:staticcheck // ufw's words

func (f *firewall) run(args []string) (said string, err error) {
	switch line := strings.Join(args, " "); {
	case line == "--force enable":
		f.Enabled = true
		return "Firewall is active and enabled on system startup\n", nil
	case line == "disable":
		f.Enabled = false
		return "Firewall stopped and disabled on system startup\n", nil
	case line == "status numbered":
		return f.status(), nil
	case len(args) == 3 && args[0] == "default" && args[1] == "allow":
		return fmt.Sprintf("Default %s policy changed to 'allow'\n(be sure to update your rules accordingly)\n", args[2]), nil
	case len(args) > 0 && (args[0] == "prepend" || args[0] == "delete"):
		return f.change(args[0], args[1:])
	}
	return f.change("add", args)
}

// change adds a rule to the list of each of its families, at its end or its beginning, or deletes it.
func (f *firewall) change(verb string, words []string) (said string, err error) {
	r, families, err := parseRule(words)
	if err != nil {
		return "", err
	}
	for _, six := range families {
		rules := &f.V4
		if six {
			rules = &f.V6
		}
		if verb == "delete" {
			said += f.remove(rules, r)
		} else {
			said += f.put(rules, r, verb == "prepend")
		}
		said += suffix(six) + "\n"
	}
	return said, nil
}

// parseRule reads a rule: `allow 6641/tcp`, or `allow [from A] to any port P proto tcp`, either with `comment C`.
// families says for which of IPv4 (false) and IPv6 (true) it is.
func parseRule(words []string) (r rule, families []bool, err error) {
	if len(words) < 2 || words[0] != "allow" && words[0] != "reject" {
		return r, nil, errSyntax
	}
	r.Action, families, words = words[0], []bool{false, true}, words[1:]
	if port, proto, short := strings.Cut(words[0], "/"); short {
		r.Port, r.Proto, words = port, proto, words[1:]
	}
	for ; len(words) > 1; words = words[2:] {
		switch value := words[1]; words[0] {
		case "from":
			address, err := netip.ParseAddr(value)
			if err != nil {
				return r, nil, errors.New("Bad source address") //nolint:staticcheck // ufw's words
			}
			r.From, families = value, []bool{address.Is6()}
		case "to": // any
		case "port":
			r.Port = value
		case "proto":
			r.Proto = value
		case "comment":
			r.Comment = value
		default:
			return r, nil, errSyntax
		}
	}
	if len(words) > 0 {
		return r, nil, errSyntax
	}
	return r, families, nil
}

// put puts a rule into the list of its family, and says what it did.
func (f *firewall) put(rules *[]rule, r rule, first bool) string {
	i, done := slices.IndexFunc(*rules, r.same), "Rule added"
	switch {
	case i >= 0 && first:
		return "Skipping inserting existing rule" // even if its action is another
	case i >= 0 && (*rules)[i] == r:
		return "Skipping adding existing rule"
	case i >= 0:
		(*rules)[i], done = r, "Rule updated"
	case first && len(*rules) > 0:
		*rules, done = slices.Insert(*rules, 0, r), "Rule inserted"
	default:
		*rules = append(*rules, r)
	}
	return f.said(done)
}

// remove takes a rule out of the list of its family, and says what it did.
func (f *firewall) remove(rules *[]rule, r rule) string {
	i := slices.IndexFunc(*rules, func(other rule) bool { return r.same(other) && r.Action == other.Action })
	if i < 0 {
		return "Could not delete non-existent rule"
	}
	*rules = slices.Delete(*rules, i, i+1)
	return f.said("Rule deleted")
}

// said returns ufw's message about what it did; it is shorter if ufw is off.
func (f *firewall) said(done string) string {
	if !f.Enabled {
		return "Rules updated"
	}
	return done
}

// suffix is the text that ufw adds to its message about a rule of IPv6.
func suffix(six bool) string {
	if six {
		return " (v6)"
	}
	return ""
}

// status is the list of rules with their numbers, in ufw's columns.
func (f *firewall) status() string {
	switch {
	case !f.Enabled:
		return "Status: inactive\n"
	case len(f.V4)+len(f.V6) == 0:
		return "Status: active\n"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Status: active\n\n     %-26s %-11s From\n     %-26s %-11s ----\n", "To", "Action", "--", "------")
	for i, r := range slices.Concat(f.V4, f.V6) {
		to, from := r.Port+"/"+r.Proto, r.From
		if from == "" {
			mark := suffix(i >= len(f.V4))
			to, from = to+mark, "Anywhere"+mark
		}
		line := fmt.Sprintf("[%2d] %-26s %-12s%-26s", i+1, to, strings.ToUpper(r.Action)+" IN", from)
		if r.Comment != "" {
			line += " # " + r.Comment
		}
		fmt.Fprintln(&out, line)
	}
	return out.String() + "\n"
}
