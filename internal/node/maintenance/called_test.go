package maintenance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	nodes := maintenance.Nodes(maintenance.Seen{State: schedule.State{Chassis: []schedule.Chassis{
		{Name: "one.example", Hostname: "one.example"}, {Name: "two.example"}, {Name: "three.example", Hostname: "four.example"},
	}}})
	for typed, chassis := range map[string]string{
		"one": "one.example", "two.example": "two.example", "two": "two.example", "four": "three.example", "three": "",
	} {
		n, refused := maintenance.Resolve(nodes, typed)
		assert.Equal(t, chassis, n.Chassis, typed)
		assert.Equal(t, chassis == "", refused != nil, typed)
	}
}
