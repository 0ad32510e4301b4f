package lab

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// RelateCA relates the application to one that issues certificates of [Lab.CA],
// as vault does. A unit that the lab has laid out by hand gets the certificate that
// it has already: it was issued to the charm before.
func (l *Lab) RelateCA(ctx context.Context) (relation int, err error) {
	l.OnRemote(caEndpoint, l.issued)
	return l.Relate(ctx, caEndpoint, caApp, 1)
}

// The relation of RelateCA.
const (
	caEndpoint = "certificates"
	caApp      = "vault"
)

// answerAgain goes on with RelateCA in a lab that was opened, as long as there are
// certificates that were issued ahead.
func (l *Lab) answerAgain() {
	related := false
	l.model.Do(func(s *model.State) {
		related = slices.ContainsFunc(s.Relations, func(r *model.Relation) bool { return r.Name == caEndpoint && r.Remote == caApp })
	})
	if related {
		l.OnRemote(caEndpoint, l.issued)
	}
}

func (l *Lab) issued(unit string, request map[string]string) map[string]string {
	u, err := l.Unit(unit)
	if err != nil {
		return nil
	}
	files := l.credentials(u.Address())
	key, err := os.ReadFile(files.Key)
	if l.ca != nil && (u.machine.Bare || errors.Is(err, fs.ErrNotExist)) {
		answer, err := l.ca.Answer(unit, request)
		if err != nil {
			l.logf("vault: %v", err)
		}
		return answer
	}
	certificate, err2 := os.ReadFile(files.Certificate)
	authority, err3 := os.ReadFile(files.CA)
	if err := errors.Join(err, err2, err3); err != nil {
		l.logf("vault: %v", err)
		return nil
	}
	name := strings.ReplaceAll(unit, "/", "_")
	return map[string]string{
		"ca": string(authority), name + ".server.cert": string(certificate), name + ".server.key": string(key),
	}
}
