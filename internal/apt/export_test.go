package apt

import "context"

// Update fetches the lists of packages.
func (p Packages) Update(ctx context.Context) error { return p.update(ctx) }

// CheckKey is checkKey.
var CheckKey = checkKey
