package hooktool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names of applications and units, as juju/names has them.
var (
	validApp  = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]*[a-z][a-z0-9]*)*$`)
	validUnit = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]*[a-z][a-z0-9]*)*/(0|[1-9][0-9]*)$`)
)

var (
	errNoRelation = errors.New("relation not found")
	errPermission = errors.New("permission denied") // the controller's
)

// relationFlag adds -r; the relation of the hook is its default. The chosen one
// is nil where neither is given.
func (c *call) relationFlag(f flags, chosen **relation) {
	*chosen = c.relations[c.Hook.RelationID]
	f.function(func(v string) error {
		id, err := strconv.Atoi(v[strings.LastIndex(v, ":")+1:])
		if err != nil {
			return errors.New("invalid relation id")
		}
		r := c.relations[id]
		if r == nil {
			return errNoRelation
		}
		*chosen = r
		return nil
	}, "r", "relation")
}

func (r *relation) fullID() string { return fmt.Sprintf("%s:%d", r.name, r.id) }

func relationIDs(c *call) error {
	var out output
	f := flags{}
	out.flags(f, "smart", "json", "yaml")
	args, err := f.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	name := c.Hook.Relation
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch {
	case name == "" && c.juju.since(3, 6):
		return usage(errors.New("no endpoint name specified"))
	case name == "":
		return usage(errors.New("no relation name specified"))
	}
	if err := none(args); err != nil {
		return usage(err)
	}
	ids := []string{}
	for _, r := range c.relations {
		if r.name == name && !r.broken {
			ids = append(ids, r.fullID())
		}
	}
	slices.Sort(ids)
	return out.write(c, ids)
}

func relationList(c *call) error {
	var out output
	var r *relation
	var app bool
	f := flags{}
	out.flags(f, "smart", "json", "yaml")
	c.relationFlag(f, &r)
	f.boolean(&app, "app")
	args, err := f.parse(c.request.Args)
	switch {
	case err != nil:
		return usage(err)
	case r == nil:
		return usage(errors.New("no relation id specified"))
	case len(args) > 0:
		return usage(none(args))
	case app:
		return out.write(c, r.remote)
	}
	return out.write(c, append([]string{}, r.members...))
}

func relationGet(c *call) error {
	var out output
	var r *relation
	var app bool
	f := flags{}
	out.flags(f, "smart", "json", "yaml")
	c.relationFlag(f, &r)
	f.boolean(&app, "app")
	args, err := f.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	if r == nil {
		return usage(errors.New("no relation id specified"))
	}
	key := ""
	if len(args) > 0 {
		key, args = args[0], args[1:]
	}
	whose, args, err := c.whose(args, &app)
	if err == nil {
		err = none(args)
	}
	if err != nil {
		return usage(err)
	}
	settings, err := c.readSettings(r, whose, app)
	if err != nil {
		return err
	}
	if key == "" || key == "-" {
		return out.write(c, settings)
	}
	if value, found := settings[key]; found {
		return out.write(c, value)
	}
	return out.write(c, nil)
}

// whose decides the unit or application that relation-get reads.
func (c *call) whose(args []string, app *bool) (string, []string, error) {
	if len(args) == 0 {
		switch {
		case *app && c.Hook.RemoteApp != "":
			return c.Hook.RemoteApp, args, nil
		case !*app && c.Hook.RemoteUnit != "":
			return c.Hook.RemoteUnit, args, nil
		case !*app && c.Hook.RemoteApp != "":
			*app = true
			return c.Hook.RemoteApp, args, nil
		}
		return "", nil, errors.New("no unit or application specified")
	}
	given := args[0]
	args = args[1:]
	switch {
	case *app && validUnit.MatchString(given):
		given, _, _ = strings.Cut(given, "/")
		return given, args, nil
	case *app, validUnit.MatchString(given):
		return given, args, nil
	case !c.juju.since(3, 0):
		// Juju 2 leaves it to the reader.
		*app = validApp.MatchString(given)
		return given, args, nil
	case validApp.MatchString(given):
		return "", nil, fmt.Errorf("expected unit name, got application name %q", given)
	}
	return "", nil, fmt.Errorf("invalid unit name %q", given)
}

func relationSet(c *call) error {
	var r *relation
	var app bool
	var file, format string
	f := flags{}
	c.relationFlag(f, &r)
	f.boolean(&app, "app")
	f.text(&file, "file")
	f.text(&format, "format")
	args, err := f.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	if r == nil {
		return usage(errors.New("no relation id specified"))
	}
	values, err := keyValues(args)
	if err != nil {
		return usage(err)
	}
	c.deprecated(format)
	if values, err = c.withFile(file, values); err != nil {
		return err
	}
	target := c.own
	if app {
		if !c.isLeader() {
			return errors.New("cannot write relation settings")
		}
		target = c.ownApp
	}
	for key, value := range values {
		target(r).set(key, value)
	}
	return nil
}
