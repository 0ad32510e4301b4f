package hooktool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// flags are the options of one tool, by name without dashes.
type flags map[string]option

type option struct {
	isBool bool
	set    func(string) error
}

func (f flags) text(target *string, names ...string) {
	f.function(func(v string) error { *target = v; return nil }, names...)
}

func (f flags) function(set func(string) error, names ...string) {
	for _, name := range names {
		f[name] = option{set: set}
	}
}

func (f flags) boolean(target *bool, names ...string) {
	for _, name := range names {
		f[name] = option{isBool: true, set: func(v string) (err error) {
			*target, err = strconv.ParseBool(v)
			return err
		}}
	}
}

// dashed is how an option is named in errors.
func dashed(name string) string {
	if utf8.RuneCountInString(name) > 1 {
		return "--" + name
	}
	return "-" + name
}

// parse takes the options out of args and returns the rest, by the rules of
// Juju's flag library (juju/gnuflag): options may stand anywhere before "--",
// `-x value`, `-xvalue`, `--long value`, `--long=value`, and single letters can
// be joined.
func (f flags) parse(args []string) ([]string, error) {
	var rest []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			return append(rest, args...), nil
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			rest = append(rest, arg)
		case strings.HasPrefix(arg, "--"):
			name, value, has := strings.Cut(arg[2:], "=")
			if name == "" {
				return nil, fmt.Errorf("empty option in argument %q", arg)
			}
			args, err = f.one(name, value, has, args)
		default:
			args, err = f.letters(arg[1:], args)
		}
		if err != nil {
			return nil, err
		}
	}
	return rest, nil
}

func (f flags) letters(group string, args []string) ([]string, error) {
	for group != "" {
		_, n := utf8.DecodeRuneInString(group)
		name := group[:n]
		group = group[n:]
		var err error
		if f[name].isBool && !strings.HasPrefix(group, "=") {
			args, err = f.one(name, "", false, args)
		} else {
			args, err = f.one(name, group, group != "", args)
			group = ""
		}
		if err != nil {
			return nil, err
		}
	}
	return args, nil
}

func (f flags) one(name, value string, has bool, args []string) ([]string, error) {
	o, known := f[name]
	switch {
	case !known:
		return nil, fmt.Errorf("option provided but not defined: %s", dashed(name))
	case o.isBool && !has:
		value = "true"
	case !has && len(args) == 0:
		return nil, fmt.Errorf("option needs an argument: %s", dashed(name))
	case !has:
		value, args = args[0], args[1:]
	}
	if err := o.set(value); err != nil {
		return nil, fmt.Errorf("invalid value %q for option %s: %w", value, dashed(name), err)
	}
	return args, nil
}

// none refuses left-over arguments.
func none(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unrecognized args: %q", args)
	}
	return nil
}

// keyValues reads arguments of the form key=value (juju/utils keyvalues).
func keyValues(args []string) (map[string]string, error) {
	values := map[string]string{}
	for _, arg := range args {
		if arg == "" {
			continue
		}
		key, value, found := strings.Cut(arg, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch _, twice := values[key]; {
		case !found:
			return nil, fmt.Errorf("expected \"key=value\", got %q", arg)
		case key == "":
			return nil, fmt.Errorf("expected \"key=value\", got \"=%s\"", value)
		case twice:
			return nil, fmt.Errorf("key %q specified more than once", key)
		}
		values[key] = value
	}
	return values, nil
}

// errUsage marks an error of the arguments: exit code 2 instead of 1.
type errUsage struct{ error }

func (e errUsage) Unwrap() error { return e.error }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return errUsage{err}
}

func isUsage(err error) bool { return errors.As(err, new(errUsage)) }
