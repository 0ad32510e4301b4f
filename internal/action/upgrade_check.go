package action

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/document"
)

// upgradeCheck says what an upgrade would bring, and what is to be done before.
func upgradeCheck(ctx context.Context, u Unit, p params) (results, error) {
	format, err := p.format()
	if err != nil {
		return nil, err
	}
	source, err := p.text("source")
	if err != nil {
		return nil, err
	}
	found, err := u.Reconciler.CheckUpgrade(ctx, source)
	if err != nil {
		return nil, err
	}
	text, err := rendered(format, found, document.Upgrade)
	return results{"upgrade": text}, err
}
