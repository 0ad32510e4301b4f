package juju

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/ovn-central/ovn-central-operator/tests/vault"
)

// Answer has a CA answer the requests that are new or, with again, all of
// them: what it has issued anew since goes to the units.
func (c *Controller) Answer(ctx context.Context, relation int, unit string, ca *vault.CA, again bool) error {
	requests, err := c.Data(ctx, relation)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	answers, served := map[string]string{}, map[string]string{}
	for requester, bag := range requests {
		request, err := json.Marshal(bag) // sorted by key
		if err != nil {
			return err
		}
		if len(bag) == 0 || !again && c.answered[requester] == string(request) {
			continue
		}
		answer, err := ca.Answer(requester, bag)
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
	if err := c.RemoteSet(ctx, relation, unit, answers); err != nil {
		return err
	}
	maps.Copy(c.answered, served)
	return nil
}
