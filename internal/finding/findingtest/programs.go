package findingtest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// service matches the services of OVN that a remedy names.
const service = `(ovn-ovsdb-server-(nb|sb)|ovn-northd|ovn-controller|ovn-central)`

// programs has the arguments with which the product prints the programs on a machine.
var programs = map[string]*regexp.Regexp{
	"systemctl":    regexp.MustCompile(`^(restart|status|unmask|stop)( ` + service + `)+$`),
	"journalctl":   regexp.MustCompile(`^-u ovn-central-backup$`),
	"timedatectl":  regexp.MustCompile(`^$`),
	"apt-cache":    regexp.MustCompile(`^policy (ovn-central|openvswitch-common)$`),
	"ovn-appctl":   regexp.MustCompile(`^-t (ovn-northd resume|ovn-controller inc-engine/recompute)$`),
	"ovs-appctl":   regexp.MustCompile(`^-t \S+ ovsdb-server/compact( OVN_(Northbound|Southbound))?$`),
	"ovsdb-client": regexp.MustCompile(`^convert unix:/\S+ /\S+\.ovsschema$`),
}

// clients are the programs that write to a database, with the commands that the product prints and how many words
// each takes at least. Tests on real databases run these with the program itself.
var clients = map[string]map[string]int{
	"ovn-nbctl": {
		"set": 3, "clear": 3, "remove": 4, "get": 2, "create": 2, "add": 4, "destroy": 2, "lrp-del-gateway-chassis": 2,
		"ha-chassis-group-remove-chassis": 2, "ha-chassis-group-add-chassis": 3,
	},
	"ovn-sbctl": {"remove": 4, "destroy": 2},
}

// onMachine checks UNIT WORDS…, which the machine's shell splits once more.
func onMachine(words []string) error {
	if len(words) < 2 || !unitName.MatchString(words[0]) {
		return errors.New("no unit or no command")
	}
	for _, line := range strings.Split(strings.Join(words[1:], " "), " && ") {
		typed, err := split(line)
		if err != nil {
			return err
		}
		if typed[0] == "sudo" {
			typed = typed[1:]
		}
		if err := program(typed); err != nil {
			return err
		}
	}
	return nil
}

// program checks the words of a command that is typed on a machine.
func program(words []string) error {
	if len(words) == 0 {
		return errors.New("no program")
	}
	if takes, known := programs[words[0]]; known {
		return all(takes.MatchString(strings.Join(words[1:], " ")))
	}
	commands, known := clients[words[0]]
	if !known {
		return fmt.Errorf("no known program %q", words[0])
	}
	rest := words[1:]
	for len(rest) > 0 {
		end := slices.Index(rest, "--")
		one := rest
		if rest = nil; end >= 0 {
			one, rest = one[:end], one[end+1:]
		}
		for len(one) > 0 && strings.HasPrefix(one[0], "--") {
			one = one[1:]
		}
		if len(one) == 0 {
			return errors.New("a command of ovn-nbctl is missing")
		}
		least, known := commands[one[0]]
		if !known {
			return fmt.Errorf("no known command %q of %s", one[0], words[0])
		}
		if len(one)-1 < least {
			return fmt.Errorf("%s takes %d words", one[0], least)
		}
	}
	return nil
}
