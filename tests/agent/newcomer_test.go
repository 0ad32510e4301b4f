package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A host makes itself a chassis for gateways by its own row: until a person has seen it, it is given none.
func TestAgentSchedulesNothingOnANewChassisBeforeAPersonHasSeenIt(t *testing.T) {
	t.Parallel()
	p := newPlane(t, "--mode", "on", "--hold-down", "0s", "--cordon-new-chassis")
	p.nb("init")
	p.arrive("c1")
	p.gateways(3)
	holder := p.holder(p.agents...)
	record := func(key string) string {
		return strings.TrimSpace(p.nb("--if-exists", "get", "NB_Global", ".", `external_ids:"ovn-central:`+key+`"`))
	}
	eventually(t, func() bool { return record("maintenance/c1") == "\"false\"" }, patience, 100*time.Millisecond, "it was there")

	p.arrive("c2")
	eventually(t, func() bool { return record("maintenance/c2") == "\"true\"" }, patience, 100*time.Millisecond)
	assert.Contains(t, record("maintenance-by/c2"), "new: uncordon it once you know it")
	assert.Contains(t, record("maintenance-by/c2"), holder.unit+", agent")
	before := p.database()
	always(t, func() bool { return p.database().Committed() == before.Committed() }, 2*ttl, ttl/4, "R17, and no gateway has it as a candidate")
	assert.Equal(t, []string{"c1"}, p.candidates("r0"))

	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:maintenance/c2"=false`)
	p.complete(2)
	p.depart("c2")
	p.arrive("c2")
	p.complete(2)
	assert.Equal(t, "\"false\"", record("maintenance/c2"), "it is known by now")
}
