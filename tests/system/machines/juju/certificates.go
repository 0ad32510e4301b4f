package juju

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// Certificates is the endpoint to whose other side the CA listens.
const Certificates = "certificates"

// Certify has the CA answer the requests that are new or, with again, all of
// them: the new certificates go to the units.
func (a *Application) Certify(ctx context.Context, again bool) error {
	if a.relation(Certificates) == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	requests, err := a.Data(ctx, Certificates)
	if err != nil {
		return err
	}
	answers, served := map[string]string{}, map[string]string{}
	for requester, bag := range requests {
		request, err := json.Marshal(bag) // sorted by key
		if err != nil {
			return err
		}
		if len(bag) == 0 || !again && a.answered[requester] == string(request) {
			continue
		}
		answer, err := a.CA.Answer(requester, bag)
		if err != nil {
			return err
		}
		maps.Copy(answers, answer)
		served[requester] = string(request)
	}
	if len(served) == 0 {
		return nil
	}
	// At once, as in one hook of the CA's charm.
	if err := a.RemoteSet(ctx, Certificates, "vault/0", answers); err != nil {
		return err
	}
	maps.Copy(a.answered, served)
	return nil
}

// ReplaceCA replaces the CA by another, which answers all requests again.
func (a *Application) ReplaceCA(ctx context.Context, ca *vault.CA) error {
	a.mu.Lock()
	a.CA = ca
	a.mu.Unlock()
	return a.Certify(ctx, true)
}
