package action

import (
	"context"
	"errors"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
)

// Unit is the unit that actions run on.
type Unit struct {
	*reconcile.Reconciler
	// Backup makes copies of the databases.
	Backup *backup.Service
}

// results are an action's results for Juju.
type results map[string]string

// list adds a result of lines, if there are any.
func (r results) list(key string, all []string) {
	if len(all) > 0 {
		r[key] = lines(all)
	}
}

type handler func(context.Context, Unit, *params) (results, error)

// addFindings adds findings for programs, if the results are for programs.
func (u Unit) addFindings(found results, p *params, all []finding.Finding) (err error) {
	if p.programs() {
		found["findings"], err = rendered(p.format, present.Documents(u.Env.Version, all), nil)
	}
	return err
}

// lines is a result of whole lines. Juju's client folds a result without a newline at its end, and a folded command
// can't be pasted.
func lines(all []string) string { return strings.Join(all, "\n") + "\n" }

// answered shows the result of an operation, and fails the action if the operation failed.
func answered(format string, status answer.Status) (results, error) {
	text, err := shown(format, status, document.Answer)
	if err == nil && !status.OK() {
		err = errors.New(status.Message)
	}
	return results{"status": text}, err
}

// shownAs returns a document as the only result, or err if it is not nil.
func shownAs[T presentable[T]](key, format string, text func(T) string, d T, err error) (results, error) {
	if err != nil {
		return nil, err
	}
	whole, err := shown(format, d, text)
	return results{key: whole}, err
}
