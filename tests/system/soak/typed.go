package soak

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// printed matches a command of juju up to the end of its line, or of its part of the status.
var printed = regexp.MustCompile(`juju (?:run|add-unit|remove-unit|resolved) [^;,(\n]+`)

func commands(text string) (all []string) {
	for _, command := range printed.FindAllString(text, -1) {
		all = append(all, strings.TrimRight(strings.TrimSpace(command), ".,"))
	}
	return all
}

// typeFailed types the commands in the log of a failed hook, but overrides and those with a condition.
func (w *world) typeFailed(ctx context.Context, err error) error {
	hook := (*lab.HookError)(nil)
	if !errors.As(err, &hook) {
		return nil
	}
	for _, way := range ways(hook.Output) {
		for _, command := range commands(way) {
			if err := w.enter(ctx, command); err != nil {
				return err
			}
		}
	}
	return nil
}

// ways returns the lines of a log that say what to do next, except conditional ones.
func ways(output string) (all []string) {
	for line := range strings.Lines(output) {
		_, way, is := strings.Cut(line, "next: ")
		if is && strings.HasPrefix(way, "juju ") && !slices.Contains(all, way) {
			all = append(all, way)
		}
	}
	return all
}

// typeShown types the commands in a unit's findings after its next hook.
func (w *world) typeShown(ctx context.Context, h *host) error {
	if h.Agent().Status == "error" || h.Dying() {
		w.note(Step{Do: "retry", Unit: h.number}, w.again(ctx, h))
	} else {
		w.note(Step{Do: "update-status"}, w.UpdateStatus(ctx))
	}
	return w.typeFound(ctx, h)
}

// typeFound types the first applicable remedy of each finding of a unit. A replacement of a unit is typed once.
func (w *world) typeFound(ctx context.Context, h *host) error {
	if w.has(h, "power-off") {
		return nil
	}
	_, all, err := w.finds(ctx, h, "health")
	if err != nil {
		return fmt.Errorf("health of %s: %w", h.Name(), err)
	}
	for _, d := range all {
		i := slices.IndexFunc(d.Remedies, func(r finding.RemedyDocument) bool { return w.applies(d, r) })
		if i < 0 || strings.HasPrefix(d.Remedies[i].Commands[0], "juju add-unit") && !w.replaces(h) {
			continue
		}
		for _, command := range d.Remedies[i].Commands {
			if err := w.enter(ctx, command); err != nil {
				return err
			}
		}
	}
	return nil
}

// applies reports whether a remedy is applicable: for a loss only if the machine is off, and without force.
func (w *world) applies(d present.Document, r finding.RemedyDocument) bool {
	if len(r.Commands) == 0 || slices.ContainsFunc(r.Commands, func(c string) bool { return !printed.MatchString(c) || strings.Contains(c, " --force ") }) {
		return false
	}
	if r.Condition == "" || r.Condition == string(finding.IfThisLasts) {
		return true
	}
	words := strings.Fields(r.When + " " + d.Subject)
	return slices.ContainsFunc(w.all(), func(h *host) bool { return w.has(h, "power-off") && slices.Contains(words, h.Name()) })
}

// replaces reports whether the unit is replaced for the first time.
func (w *world) replaces(h *host) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.replaced[h.Name()]
	w.replaced[h.Name()] = true
	return !before
}

// refused is a printed command that fails.
type refused struct{ command, why string }

func (e *refused) Error() string { return fmt.Sprintf("%s: refused: %s", e.command, e.why) }

// enter types one command. A command for a machine that is off would wait under Juju, and is not run here.
func (w *world) enter(ctx context.Context, command string) error {
	words := strings.Fields(command)
	w.say("typed: %s", command)
	looks := words[len(words)-1] == "cluster-status" || slices.Contains(words, "dry-run=true")
	if !looks { // else there is more to be typed
		w.counted(func(c *Counts) { c.Typed++ })
	}
	if words[1] == "add-unit" {
		w.mu.Lock()
		n := 1000 + len(w.hosts)
		w.mu.Unlock()
		if err := w.add(ctx, n); err != nil {
			return err
		}
		return w.Settle(ctx)
	}
	h := w.meant(words[2])
	if h == nil || h.Removed() {
		return &refused{command, "there is no such unit"}
	}
	switch words[1] {
	case "remove-unit":
		return w.RemoveUnit(ctx, h.Unit, lab.RemoveOptions{})
	case "resolved":
		return w.Resolved(ctx, h.Unit, false)
	}
	if w.has(h, "power-off") {
		return &refused{command, "the machine that it is to run on is off"}
	}
	before := w.living(ctx)
	r, err := w.RunAction(ctx, h.Unit, words[3], unquoted(words[4:])...)
	if err != nil {
		return err
	}
	for id := range w.living(ctx) {
		delete(before, id)
	}
	if words[3] == "kick" {
		w.harmful(command, before)
	}
	if r.Status != "completed" && !looks { // a plan that can't be carried out says so
		return &refused{command, strings.Join([]string{r.Message, r.Results["ovnnb"], r.Results["ovnsb"]}, "\n")}
	}
	return nil
}

// meant returns the unit of a name, or the leader.
func (w *world) meant(name string) *host {
	if strings.HasSuffix(name, "/leader") {
		if leader := w.Leader(); leader != nil {
			name = leader.Name()
		}
	}
	return w.named(name)
}

// unquoted removes the quotes, as a shell does.
func unquoted(words []string) (all []string) {
	for _, word := range words {
		if !strings.HasPrefix(word, "--wait") { // the lab waits in any case
			all = append(all, strings.ReplaceAll(word, "'", ""))
		}
	}
	return all
}

// living returns the members that are up and whose unit stays, by ID.
func (w *world) living(ctx context.Context) map[string]*host {
	all := map[string]*host{}
	for _, db := range lab.Databases {
		for _, m := range w.look(ctx, db).members {
			if m.why == Up && m.host != nil && !m.host.Removed() && !m.host.Dying() {
				all[string(db)+" "+m.Short] = m.host
			}
		}
	}
	return all
}

// harmful claims that a printed kick has not removed living members.
func (w *world) harmful(command string, missing map[string]*host) {
	for id, h := range missing {
		db, short, _ := strings.Cut(id, " ")
		w.claim(fmt.Sprintf("%s: it was printed, and has removed %s of %s, which was up", command, id, h.Name()), func(ctx context.Context) bool {
			v := w.look(ctx, lab.DB(db))
			return !v.leads || slices.ContainsFunc(v.members, func(m member) bool { return m.Short == short })
		})
	}
}
