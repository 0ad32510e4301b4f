package lab

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gopkg.in/yaml.v2"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
)

// PrintStatus prints one line a unit, as `juju status` does; the Juju leader has a star.
func (l *Lab) PrintStatus(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Unit\tWorkload\tAgent\tAddress\tServers\tMessage")
	leader := l.Leader()
	for _, u := range l.Units() {
		name := u.Name()
		if u == leader {
			name += "*"
		}
		workload, agent := u.Shown(), u.Agent()
		word := agent.Status
		if word == "error" { // Juju shows it as the workload's, and the agent as idle
			word = "idle"
		}
		var servers []string
		for _, db := range Databases {
			state := "down"
			if u.Running(db) {
				state = "up"
			}
			servers = append(servers, fmt.Sprintf("%s:%s", db, state))
		}
		message := workload.Message
		if u.Dying() {
			message = strings.TrimSpace("(dying) " + message)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, workload.Status, word, u.Address(), strings.Join(servers, " "), message)
	}
	_ = w.Flush() // the caller's writer keeps its own error
}

// Print prints an action's log, results and output as `juju run` does, without the results of every action.
func (result ActionResult) Print(out io.Writer, u *Unit) {
	fmt.Fprintf(out, "Running operation %s with 1 task\n  - task %s on unit-%s\n\n", result.ID, result.ID, strings.ReplaceAll(u.Name(), "/", "-"))
	for _, line := range result.Log {
		fmt.Fprintln(out, line)
	}
	if result.Status == "failed" {
		fmt.Fprintf(out, "Action id %s failed: %s\n", result.ID, result.Message)
	}
	tree := map[string]any{}
	for key, value := range result.Results {
		switch key {
		case "return-code", "stdout", "stderr":
		default:
			hooktool.Nest(tree, strings.Split(key, "."), value)
		}
	}
	if len(tree) > 0 {
		if text, err := yaml.Marshal(tree); err == nil {
			fmt.Fprintln(out, string(text))
		}
	}
	for _, key := range []string{"stdout", "stderr"} {
		if text := strings.Trim(result.Results[key], "\n"); text != "" {
			fmt.Fprintln(out, text)
		}
	}
}
