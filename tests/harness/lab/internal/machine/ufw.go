package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// firewall is what ufw(8) keeps, of the commands that charms and tests give. Nothing is
// filtered: it is looked at.
type firewall struct {
	Enabled  bool
	Policies map[string]string // incoming, outgoing, routed → allow, deny, reject
	V4, V6   []rule
}

// rule is one rule of one family, for what comes in.
type rule struct {
	Action                   string // allow, deny, reject, limit
	To, From, Port, FromPort string // empty: any
	Proto, Comment           string
}

// same says whether two rules are about the same packets.
func (r rule) same(other rule) bool {
	other.Action, other.Comment = r.Action, r.Comment
	return r == other
}

func (m *Machine) firewallFile() string { return filepath.Join(m.Dir, "ufw.json") }

func (m *Machine) firewall() firewall {
	f := firewall{Policies: map[string]string{"incoming": "deny", "outgoing": "allow", "routed": "deny"}}
	if data, err := os.ReadFile(m.firewallFile()); err == nil {
		_ = json.Unmarshal(data, &f) // written by writeJSON
	}
	return f
}

// ufw is the program; it runs as root.
func (t *tool) ufw(args []string) int {
	if len(args) > 1 && args[0] == "--force" && slices.Contains([]string{"enable", "delete"}, args[1]) {
		args = args[1:]
	}
	f := t.firewall()
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

func (f *firewall) run(args []string) (said string, err error) {
	if len(args) == 0 {
		return "", errSyntax
	}
	switch rest := args[1:]; args[0] {
	case "enable":
		f.Enabled = true
		return "Firewall is active and enabled on system startup\n", nil
	case "disable":
		f.Enabled = false
		return "Firewall stopped and disabled on system startup\n", nil
	case "default":
		return f.setDefault(rest)
	case "status":
		return f.status(rest)
	case "prepend":
		return f.add(rest, true)
	case "delete":
		return f.remove(rest)
	default:
		return f.add(args, false)
	}
}

func (f *firewall) setDefault(args []string) (string, error) {
	if len(args) != 2 || f.Policies[args[1]] == "" || !slices.Contains([]string{"allow", "deny", "reject"}, args[0]) {
		return "", errSyntax
	}
	f.Policies[args[1]] = args[0]
	return fmt.Sprintf("Default %s policy changed to '%s'\n(be sure to update your rules accordingly)\n", args[1], args[0]), nil
}

// suffix is what ufw puts after what it says of a rule of IPv6.
func suffix(six bool) string {
	if six {
		return " (v6)"
	}
	return ""
}

// rules are those of a family.
func (f *firewall) rules(six bool) *[]rule {
	if six {
		return &f.V6
	}
	return &f.V4
}

// add adds a rule at the end of the list of each of its families, or at the beginning.
func (f *firewall) add(words []string, first bool) (said string, err error) {
	r, families, err := parseRule(words)
	if err != nil {
		return "", err
	}
	for _, six := range families {
		rules := f.rules(six)
		said += f.put(rules, r, first) + suffix(six) + "\n"
	}
	return said, nil
}

// put puts a rule into the list of its family, and says what it did.
func (f *firewall) put(rules *[]rule, r rule, first bool) string {
	i := slices.IndexFunc(*rules, r.same)
	inserted := first && len(*rules) > 0
	switch {
	case i >= 0 && first:
		return "Skipping inserting existing rule" // even where its action is another
	case i >= 0 && (*rules)[i] == r:
		return "Skipping adding existing rule"
	case i >= 0:
		(*rules)[i] = r
	case first:
		*rules = slices.Insert(*rules, 0, r)
	default:
		*rules = append(*rules, r)
	}
	switch {
	case !f.Enabled:
		return "Rules updated"
	case i >= 0:
		return "Rule updated"
	case inserted:
		return "Rule inserted"
	}
	return "Rule added"
}

// remove deletes a rule by its number in the list, or by what it says.
func (f *firewall) remove(words []string) (said string, err error) {
	if len(words) == 0 {
		return "", errSyntax
	}
	if number, err := strconv.Atoi(words[0]); err == nil && len(words) == 1 {
		i := number - 1
		if i < 0 || i >= len(f.V4)+len(f.V6) {
			return "", fmt.Errorf("Could not find rule '%d'", number) //nolint:staticcheck // ufw's words
		}
		six := i >= len(f.V4)
		if six {
			i -= len(f.V4)
		}
		rules := f.rules(six)
		*rules = slices.Delete(*rules, i, i+1)
		return f.gone(six), nil
	}
	r, families, err := parseRule(words)
	if err != nil {
		return "", err
	}
	for _, six := range families {
		rules := f.rules(six)
		i := slices.IndexFunc(*rules, func(other rule) bool {
			return r.same(other) && r.Action == other.Action && (r.Comment == "" || r.Comment == other.Comment)
		})
		if i < 0 {
			said += "Could not delete non-existent rule" + suffix(six) + "\n"
			continue
		}
		*rules = slices.Delete(*rules, i, i+1)
		said += f.gone(six)
	}
	return said, nil
}

func (f *firewall) gone(six bool) string {
	if !f.Enabled {
		return "Rules updated" + suffix(six) + "\n"
	}
	return "Rule deleted" + suffix(six) + "\n"
}
