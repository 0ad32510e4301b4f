package action

import "context"

// upgradeCheck says what an upgrade would bring, and what is to be done before.
func upgradeCheck(ctx context.Context, u Unit, p params) (results, error) {
	format, err := p.text("format")
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
	text, err := rendered(format, found)
	return results{"upgrade": text}, err
}
