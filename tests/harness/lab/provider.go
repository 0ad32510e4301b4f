package lab

import (
	"context"
	"errors"
	"strings"
)

// RelateCA relates the application to one that issues certificates of [Lab.CA],
// as vault does. A unit that the lab has laid out by hand gets the certificate that
// it has already: it was issued to the charm before.
func (l *Lab) RelateCA(ctx context.Context) (relation int, err error) {
	if l.ca == nil {
		return 0, errNoCA
	}
	l.OnRemote(caEndpoint, l.issued)
	return l.Relate(ctx, caEndpoint, caApp, 1)
}

// errNoCA is the error of what needs the CA in a lab that was kept.
var errNoCA = errors.New("a test has kept this lab, and the CA has ended with the test: no unit can be added")

// The relation of RelateCA.
const (
	caEndpoint = "certificates"
	caApp      = "vault"
)

func (l *Lab) issued(unit string, request map[string]string) map[string]string {
	u, err := l.Unit(unit)
	if err != nil {
		return nil
	}
	if u.certificate != "" {
		name := strings.ReplaceAll(unit, "/", "_")
		return map[string]string{"ca": l.ca.PEM(), name + ".server.cert": u.certificate, name + ".server.key": u.key}
	}
	answer, err := l.ca.Answer(unit, request)
	if err != nil {
		l.logf("vault: %v", err)
	}
	return answer
}
