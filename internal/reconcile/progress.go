package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// progress is what a pass knows that its own steps change, and what it has found out of the
// machine for as long as they don't.
type progress struct {
	serving map[ovndb.Database]serving
}

func newProgress() *progress {
	return &progress{serving: map[ovndb.Database]serving{}}
}
