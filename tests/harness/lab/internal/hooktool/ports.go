package hooktool

import "slices"

// ports are those of a unit, with what the hook has asked for so far. They are played as
// the charm names them: one at a time, with the protocol.
type ports struct {
	now            []string
	opened, closed []string
}

// after are the unit's ports once the hook has ended well.
func (p *ports) after() []string {
	all := slices.Concat(p.now, p.opened)
	all = slices.DeleteFunc(all, func(port string) bool { return slices.Contains(p.closed, port) })
	slices.Sort(all)
	return slices.Compact(all)
}

func openPort(c *call) error  { return movePort(c, &c.ports.opened, &c.ports.closed) }
func closePort(c *call) error { return movePort(c, &c.ports.closed, &c.ports.opened) }

// movePort notes a port in one list and takes it out of the other.
func movePort(c *call, to, from *[]string) error {
	args, err := newOptions().parse(c, 1)
	if err != nil {
		return err
	}
	*to = append(*to, args[0])
	*from = slices.DeleteFunc(*from, func(port string) bool { return port == args[0] })
	return nil
}
