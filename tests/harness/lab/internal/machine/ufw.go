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

// firewall has the rules of ufw(8). It filters nothing: tests read the rules.
type firewall struct {
	Enabled bool
	V4, V6  []rule
}

// rule is one rule of one family, for incoming traffic to any address of the machine.
type rule struct {
	Action               string // allow, reject
	From                 string // empty: any
	Port, Proto, Comment string
}

func (r rule) same(other rule) bool {
	other.Action, other.Comment = r.Action, r.Comment
	return r == other
}

func (m *Machine) firewallFile() string { return filepath.Join(m.Dir, "ufw.json") }

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

var errSyntax = errors.New("Invalid syntax") //nolint:staticcheck // ufw's words

// run returns what ufw prints; commands that change rules print nothing here.
func (f *firewall) run(args []string) (said string, err error) {
	switch line := strings.Join(args, " "); {
	case line == "--force enable", line == "disable":
		f.Enabled = line != "disable"
		return "", nil
	case line == "status numbered":
		return f.status(), nil
	case len(args) == 3 && args[0] == "default" && args[1] == "allow":
		return "", nil
	case len(args) > 0 && (args[0] == "prepend" || args[0] == "delete"):
		return "", f.change(args[0], args[1:])
	}
	return "", f.change("add", args)
}

// change adds a rule to the list of each of its families, or deletes it.
func (f *firewall) change(verb string, words []string) error {
	r, families, err := parseRule(words)
	if err != nil {
		return err
	}
	for _, six := range families {
		rules := &f.V4
		if six {
			rules = &f.V6
		}
		*rules = changed(verb, *rules, r)
	}
	return nil
}

// changed returns the rules after a change. A rule that is prepended again keeps its place.
func changed(verb string, rules []rule, r rule) []rule {
	i := slices.IndexFunc(rules, r.same)
	switch {
	case verb == "delete" && i >= 0 && rules[i].Action == r.Action:
		return slices.Delete(rules, i, i+1)
	case verb == "delete" || verb == "prepend" && i >= 0:
		return rules
	case i >= 0:
		rules[i] = r
		return rules
	case verb == "prepend":
		return slices.Insert(rules, 0, r)
	}
	return append(rules, r)
}

// parseRule reads `allow 6641/tcp` or `allow [from A] to any port P proto tcp`. families: IPv4 is false, IPv6 true.
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

// status prints the numbered list in ufw's columns.
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
			from = "Anywhere"
			if i >= len(f.V4) {
				to, from = to+" (v6)", from+" (v6)"
			}
		}
		line := fmt.Sprintf("[%2d] %-26s %-12s%-26s", i+1, to, strings.ToUpper(r.Action)+" IN", from)
		if r.Comment != "" {
			line += " # " + r.Comment
		}
		fmt.Fprintln(&out, line)
	}
	return out.String() + "\n"
}
