// Package command represents commands to type as data. Package juju writes them in the syntax of the running Juju.
package command

// Command is a command to type. If Action is set, it is an action. Otherwise, if Unit is set, it is a command on that
// unit's machine; if not, a command of Juju's client. The zero value is no command.
type Command struct {
	// Unit and Action are names by Juju's rules, so they need no quotes.
	Unit, Action string
	// Params are the action's parameters, in the order in which they are printed.
	Params []Param
	// Words are the words of any other command, without `juju`, `ssh` and the unit.
	Words []string
	// Direct means that the command is typed without Juju, on a machine whose programs of OVN reach the databases.
	Direct bool
}

// Param is a parameter of an action. Juju reads Value as YAML: `true` is a boolean and 3974 a number, as the schemas
// of our actions allow.
type Param struct {
	Key, Value string
	// Text makes Juju read Value as a text, even if YAML would read a number: 0010.
	Text bool
}

// Client returns a command of Juju's client: `config ovn-central source=distro`.
func Client(words ...string) Command { return Command{Words: words} }

// Direct returns a command that is typed without Juju: `ovn-nbctl lr-del r`.
func Direct(words ...string) Command { return Command{Words: words, Direct: true} }

// OnMachine returns a command on the machine of a unit.
func OnMachine(unit string, words ...string) Command { return Command{Unit: unit, Words: words} }

// RemoveUnit removes a unit, which then leaves the clusters.
func RemoveUnit(unit string) Command { return Client("remove-unit", unit) }

// RemoveByForce removes units whose machines are gone. Their `stop` hooks don't run, so their members stay in the
// clusters.
func RemoveByForce(units ...string) Command {
	return Client(append([]string{"remove-unit", "--force"}, units...)...)
}

// RunHook does what the next hook of a unit would do, if the unit is not paused. By default Juju runs update-status
// every 5 minutes (update-status-hook-interval).
func RunHook(unit string) Command { return Command{Unit: unit, Action: "resume"} }

// Resolved ends the error state of a unit: the failed hook runs again or, with noRetry, counts as done.
func Resolved(unit string, noRetry bool) Command {
	if noRetry {
		return Client("resolved", "--no-retry", unit)
	}
	return Client("resolved", unit)
}
