package hooktool

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/juju/utils/v3/keyvalues"
	// Juju's fork, by the replace line in go.mod: it is what Juju's tools parse with.
	"gopkg.in/yaml.v2"
)

var errPermission = errors.New("permission denied") // the controller's

func relationIDs(c *call) error {
	args, err := newOptions().prints().parse(c, 1)
	if err != nil {
		return err
	}
	ids := []string{}
	for _, r := range c.relations {
		if r.name == args[0] && !r.broken {
			ids = append(ids, r.fullID())
		}
	}
	slices.Sort(ids)
	return c.print(ids)
}

func (r *relation) fullID() string { return fmt.Sprintf("%s:%d", r.name, r.id) }

func relationList(c *call) error {
	o := newOptions().prints().relates()
	if _, err := o.parse(c, 0); err != nil {
		return err
	}
	r, err := o.chosen(c)
	if err != nil {
		return err
	}
	return c.print(append([]string{}, r.members...))
}

// relationGet prints the data of a unit or an application.
func relationGet(c *call) error {
	o := newOptions().prints().relates()
	app := o.Bool("app", false, "")
	args, err := o.parse(c, 2) // "-", for all keys, and whose
	if err != nil {
		return err
	}
	r, err := o.chosen(c)
	if err != nil {
		return err
	}
	settings, err := c.readSettings(r, args[1], *app)
	if err != nil {
		return err
	}
	return c.print(settings)
}

func relationSet(c *call) error {
	o := newOptions().relates()
	app := o.Bool("app", false, "")
	file := o.String("file", "", "") // "-" is the tool's input
	args, err := o.parse(c, -1)
	if err != nil {
		return err
	}
	r, err := o.chosen(c)
	if err != nil {
		return err
	}
	values, err := keyvalues.Parse(args, true)
	if err != nil {
		return errUsage{err}
	}
	if *file != "" {
		if c.request.Stdin == nil {
			return errNeedStdin
		}
		all := map[string]string{}
		if err := yaml.Unmarshal([]byte(*c.request.Stdin), all); err != nil {
			return err
		}
		maps.Copy(all, values)
		values = all
	}
	target := c.own
	if *app {
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
