package gateways

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// What could not be put back is named.
func TestUndrainSaysWhatItCouldNotPutBack(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addNetwork("physnet1")
	ports := c.addGateways(3, "c1", "c2", "c3")
	require.Equal(t, 200, c.drain("c1").Code)
	n := &neutron{cloud: c, masters: map[string]string{}}
	c.nbctl(n.setCandidates(ports[0], "c3", "c2")...)
	c.nbctl("lrp-del", ports[1])
	back := c.answer("undrain", "c1", "--wait", "0s")
	require.Equal(t, 200, back.Code)
	assert.Equal(t, []maintenance.Message{
		{Message: "c1 is no longer a candidate; left as it is", Kind: maintenance.MessageGateway, Name: ports[0]},
		{Message: "the gateway no longer exists", Kind: maintenance.MessageGateway, Name: ports[1]},
	}, back.Details.MessageList)
	assert.Equal(t, []string{"3 c1", "2 c2", "1 c3"}, c.candidates(ports[2]))
}

// An ovn-northd that takes longer for any change than a node is waited for, as with 10,000 routers, ends no undrain.
func TestUndrainGivesOvnNorthdItsOwnTime(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet1")
	c.addGateways(1, "c1", "c2")
	before := c.ranks()
	require.Equal(t, 200, c.drain("c1").Code)
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	time.AfterFunc(12*time.Second, func() { assert.NoError(t, c.northd.Signal(syscall.SIGCONT)) })
	back := c.answer("undrain", "c1", "--wait", "0s")
	assert.Equal(t, 200, back.Code, document.Answer(back))
	assert.Equal(t, before, c.ranks())
}

// The ranks are back, and where the gateways are isn't as it should be, or can't be seen: it is
// said to be undrained, and what is not known of it.
func TestUndrainWhoseProofFailsSaysThatTheRanksAreBack(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet1")
	ports := c.addGateways(2, "c1", "c2")
	before := c.ranks()
	require.Equal(t, 200, c.drain("c1").Code)

	elsewhere := c.answer("undrain", "c1", "--wait", "4s") // no ovn-controller binds anything here
	assert.Equal(t, 500, elsewhere.Code)
	assert.Equal(t, "c1.example is undrained, but 2 ports are not bound as expected after 4s", elsewhere.Message)
	assert.Contains(t, elsewhere.Details.MessageList, maintenance.Message{
		Message: schedule.Unbound("c1"), Error: true, Kind: maintenance.MessageGateway, Name: ports[0],
	})
	next := elsewhere.Details.MessageList[len(elsewhere.Details.MessageList)-1]
	assert.Equal(t, []string{maintenance.MessageNext, maintenance.OperationDrain}, []string{next.Kind, next.Name}, "%+v", next)
	assert.Equal(t, before, c.ranks())

	require.Equal(t, 200, c.drain("c1").Code)
	asked := make(chan maintenance.Status)
	go func() { asked <- c.answer("undrain", "c1", "--wait", "15s") }()
	require.Eventually(t, func() bool { return c.ranks() == before }, patience, 50*time.Millisecond)
	c.run("ovs-appctl", "-t", c.path("sb", "ctl"), "exit")
	unseen := <-asked
	assert.Equal(t, 500, unseen.Code)
	assert.Regexp(t, `^c1\.example is undrained, but cannot see where gateways are bound: cannot connect to unix:.*sb\.sock`, unseen.Message)
	assert.Equal(t, before, c.ranks())
}
