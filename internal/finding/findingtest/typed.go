package findingtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/juju/charm/v12"
	"gopkg.in/yaml.v2" // replaced in go.mod by Juju's fork, which reads what is typed

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// Typed returns why an operator can't type a printed line: the shell, Juju's client, the definition of the action or
// of the option, or the program on the machine would refuse it. It returns nil if all accept it.
func Typed(line string) error {
	words, err := split(line)
	if err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	if words[0] == "juju" {
		err = client(words[1:])
	} else {
		err = program(words)
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	return nil
}

// accepted has the lines that can be typed: explorations format the same remedies thousands of times.
var accepted sync.Map

// MustType panics if a command can't be typed, in the syntax of Juju 2.9 or of a later one.
func MustType(commands ...command.Command) {
	for _, c := range commands {
		for _, v := range []juju.Version{{Major: 2, Minor: 9}, {Major: 3, Minor: 6}} {
			line := v.Render(c)
			if line == "" {
				continue
			}
			if _, known := accepted.Load(line); known {
				continue
			}
			if err := Typed(line); err != nil {
				panic(err)
			}
			accepted.Store(line, true)
		}
	}
}

// split returns the words of a line as a shell reads them, for the quotes that package shell writes.
func split(line string) (words []string, err error) {
	var word strings.Builder
	quoted, begun := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted, begun = !quoted, true
		case quoted:
			word.WriteByte(c)
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
		case c == ' ':
			if begun {
				words = append(words, word.String())
			}
			begun = false
			word.Reset()
		case strings.ContainsRune("\"$`;&|<>(){}*?[]#~!\n", rune(c)):
			return nil, fmt.Errorf("the shell does not read %q literally", c)
		default:
			begun = true
			word.WriteByte(c)
		}
	}
	if begun {
		words = append(words, word.String())
	}
	if quoted || len(words) == 0 {
		return nil, errors.New("no whole command")
	}
	return words, nil
}

var (
	unitName = regexp.MustCompile(`^[a-z][a-z0-9-]*/(0|[1-9][0-9]*|leader)$`)
	appName  = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	endpoint = regexp.MustCompile(`^[a-z][a-z0-9-]*:certificates$`)
	duration = regexp.MustCompile(`^--wait=[0-9]+[smh]$`)
	count    = regexp.MustCompile(`^[1-9][0-9]*$`)
)

// client checks the words after `juju`.
func client(words []string) error {
	if len(words) < 2 {
		return errors.New("too few words")
	}
	verb, rest := words[0], words[1:]
	switch verb {
	case "run", "run-action":
		return action(verb == "run-action", rest)
	case "config":
		return config(rest)
	case "ssh":
		return onMachine(rest)
	case "exec":
		return all(len(rest) == 3 && rest[0] == "--unit" && unitName.MatchString(rest[1]) &&
			rest[2] == "network-get ovsdb-peer")
	case "remove-unit":
		rest = slices.DeleteFunc(slices.Clone(rest), func(word string) bool { return word == "--force" })
		return all(len(rest) > 0 && !slices.ContainsFunc(rest, func(u string) bool { return !unitName.MatchString(u) }))
	case "resolved":
		return all(unitName.MatchString(rest[len(rest)-1]) && (len(rest) == 1 || len(rest) == 2 && rest[0] == "--no-retry"))
	case "add-unit":
		return all(appName.MatchString(rest[0]) &&
			(len(rest) == 1 || len(rest) == 3 && rest[1] == "-n" && count.MatchString(rest[2])))
	case "integrate", "relate":
		return all(len(rest) == 2 && endpoint.MatchString(rest[0]) && appName.MatchString(rest[1]))
	case "debug-log":
		return all(len(rest) == 2 && rest[0] == "--include" && unitName.MatchString(rest[1]))
	case "status":
		return all(len(rest) == 1 && appName.MatchString(rest[0]))
	}
	return fmt.Errorf("no known command %q of Juju's client", verb)
}

func all(valid bool) error {
	if !valid {
		return errors.New("invalid arguments")
	}
	return nil
}

// ours has the charm's definitions, as Juju reads them.
var ours = sync.OnceValues(func() (defined struct {
	actions *charm.Actions
	options *charm.Config
}, err error,
) {
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "actions.yaml")); missing == nil {
			break
		}
		if root == filepath.Dir(root) {
			return defined, errors.New("no actions.yaml above the test's directory")
		}
		root = filepath.Dir(root)
	}
	for name, read := range map[string]func(*os.File) error{
		"actions.yaml": func(f *os.File) (err error) {
			defined.actions, err = charm.ReadActionsYaml("ovn-central", f)
			return err
		},
		"config.yaml": func(f *os.File) (err error) {
			defined.options, err = charm.ReadConfig(f)
			return err
		},
	} {
		f, opened := os.Open(filepath.Join(root, name))
		if err = errors.Join(err, opened); opened == nil {
			err = errors.Join(err, read(f), f.Close())
		}
	}
	return defined, err
})

// foreignActions are actions of other charms that the product prints. They take no parameters.
var foreignActions = []string{"vault reissue-certificates"}

// action checks UNIT ACTION [KEY=VALUE…] [--wait…].
func action(old bool, words []string) error {
	if len(words) < 2 || !unitName.MatchString(words[0]) {
		return errors.New("no unit or no action")
	}
	name, rest := words[1], words[2:]
	if n := len(rest); n > 0 && (old && rest[n-1] == "--wait" || !old && duration.MatchString(rest[n-1])) {
		rest = rest[:n-1]
	} else if old {
		return errors.New("juju run-action does not wait")
	}
	app, _, _ := strings.Cut(words[0], "/")
	if slices.Contains(foreignActions, app+" "+name) {
		return all(len(rest) == 0)
	}
	defined, err := ours()
	if err != nil {
		return err
	}
	spec, known := defined.actions.ActionSpecs[name]
	if !known {
		return fmt.Errorf("no action %q", name)
	}
	given := map[string]any{}
	for _, word := range rest {
		key, value, is := strings.Cut(word, "=")
		if _, twice := given[key]; !is || twice {
			return fmt.Errorf("no parameter %q", word)
		}
		var read any
		if err := yaml.Unmarshal([]byte(value), &read); err != nil {
			return err
		}
		given[key] = read
	}
	return spec.ValidateParams(given)
}

// foreignOptions are options of other charms that the product prints.
var foreignOptions = []string{"ovn-chassis prefer-chassis-as-gw=true"}

// config checks APPLICATION --reset OPTION, or APPLICATION OPTION=VALUE.
func config(words []string) error {
	if slices.Contains(foreignOptions, strings.Join(words, " ")) {
		return nil
	}
	defined, err := ours()
	if err != nil {
		return err
	}
	if len(words) == 3 && words[1] == "--reset" {
		_, known := defined.options.Options[words[2]]
		return all(appName.MatchString(words[0]) && known)
	}
	if len(words) != 2 || !appName.MatchString(words[0]) {
		return errors.New("invalid arguments")
	}
	option, value, _ := strings.Cut(words[1], "=")
	_, err = defined.options.ParseSettingsStrings(map[string]string{option: value})
	return err
}
