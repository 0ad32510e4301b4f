package archtest

import (
	"go/ast"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// begun lists what only a person may begin (R15), each with the functions that may begin it: those of actions, those
// that these call, and those that carry out the record of such an action.
var begun = map[string][]string{
	// A recovery or a restore, and a new server that replaces this unit's.
	"Recover": {"action/recover.go: recover"}, "Rejoin": {"action/recover.go: rejoin"},
	// A recovery begins only if an operator requests it.
	"AskFor":   {"restore/recover.go: begin"},
	"Rejoin =": {"restore/recover.go: Rejoin"},
	// A kick: the action, and the removal for a unit that rejoins. The command itself has a single caller.
	"Kick": {"action/kick.go: kick", "steps/steps.go: removeMember", "membership/kick.go: kick"},
	// A backup: the action, and the service that systemd's timer starts if an option requests that.
	"Take": {"action/recover.go: takeBackup", "backup/schedule.go: TakeScheduled"}, "TakeScheduled": {"cli/systemd.go: newBackup"},
}

// R15: no hook and no agent removes a member, a database or a cluster by itself.
func TestR15_only_actions_destroy(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t) {
		for _, f := range code(t, p) {
			for _, b := range beginnings(t, p.local()+"/"+path.Base(f.name), f) {
				seen[b.what] = true
				assert.Contains(t, begun[b.what], b.where, b.what)
			}
		}
	}
	for what, where := range begun {
		assert.True(t, seen[what], "%s, of %v, is no more: the rule says nothing", what, where)
	}
}

func TestBeginnings_are_found(t *testing.T) {
	const text = `package reconcile
func (u *Reconciler) Reconcile() { u.Recover(ctx, request); if lost { r.recovery.Rejoin[db] = q; u.Kept.Rejoin = nil } }
func (u *Reconciler) publish() { maps.Copy(k.Rejoin, all); d.Rejoin, d.Copies = k.Rejoin, k.Copies; x := k.Rejoin[db] }
var f = u.Members.Kick
`
	all := beginnings(t, "reconcile/a.go", source{name: "a.go", text: []byte(text)})
	assert.Equal(t, []beginning{
		{"Recover", "reconcile/a.go: Reconcile"},
		{"Rejoin =", "reconcile/a.go: Reconcile"},
		{"Rejoin =", "reconcile/a.go: Reconcile"},
		{"Rejoin =", "reconcile/a.go: publish"},
		{"Kick", "reconcile/a.go: "},
	}, all)
}

// beginning is a place in the code that begins something.
type beginning struct{ what, where string }

// beginnings lists the places where a file names a method in begun, or writes such a field of the unit's records.
func beginnings(t *testing.T, name string, f source) (all []beginning) {
	t.Helper()
	called := map[*ast.SelectorExpr]bool{}
	for _, d := range f.parse(t).Decls {
		found := func(what string) {
			if _, is := begun[what]; is {
				all = append(all, beginning{what, name + ": " + nameOf(d)})
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					found(recorded(to) + " =")
				}
			case *ast.CallExpr:
				of, is := n.Fun.(*ast.SelectorExpr)
				if !is {
					break
				}
				if of.Sel.Name == "Copy" && len(n.Args) == 2 {
					found(recorded(n.Args[0]) + " =")
				}
				if called[of] = true; begun[of.Sel.Name] != nil {
					found(of.Sel.Name)
				}
			case *ast.SelectorExpr: // passed as a value, to be called elsewhere
				if !called[n] && slices.Contains(services, lastName(n.X)) {
					found(n.Sel.Name)
				}
			}
			return true
		})
	}
	return all
}

// services are the names, in the code, of values with such methods. Other values have fields with the same names.
var services = []string{"Reconciler", "Members", "Control", "Backup", "u", "s"}

// lastName returns the last part of a or b.a.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// records are the names, in the code, of values that have the stored state of recoveries.
var records = []string{"u", "k", "Kept", "recovery"}

// recorded returns the field of such a value to which an expression, or an element of it, refers; empty for other
// expressions.
func recorded(to ast.Expr) string {
	if element, is := to.(*ast.IndexExpr); is {
		to = element.X
	}
	field, is := to.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	if !slices.Contains(records, lastName(field.X)) {
		return ""
	}
	return field.Sel.Name
}
