package document_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

func TestListenersWithoutTLSComeWithTheCommandThatRemovesThem(t *testing.T) {
	t.Parallel()
	assert.Empty(t, document.Listeners("ovn-central/0", nil))
	const uuid = "0e0eaf6e-6b3c-4d55-8a59-6d1ffae6ab2e"
	assert.Equal(t, []string{
		`nb: the servers listen at, or connect to, "ptcp:16666:0.0.0.0" without TLS: all that reach that port have every right; ` +
			"to end it, run: juju ssh ovn-central/0 sudo ovn-nbctl remove NB_Global . connections " + uuid,
		`sb: the servers listen at, or connect to, "ptcp:1:\x1b` + strings.Repeat("x", 52) + `" without TLS: all that reach that port have every right; ` +
			"to end it, run: juju ssh ovn-central/0 sudo ovn-sbctl remove SB_Global . connections " + uuid,
	}, document.Listeners("ovn-central/0", []plan.Listener{
		{Database: ovndb.NB, Target: "ptcp:16666:0.0.0.0", UUID: uuid},
		{Database: ovndb.SB, Target: "ptcp:1:\x1b" + strings.Repeat("x", 500), UUID: uuid},
	}))
}
