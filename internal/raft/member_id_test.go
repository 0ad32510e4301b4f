package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// fullID returns member 1's full ID only if one ID fits, as seen by member 0.
func TestFullID_only_match(t *testing.T) {
	t.Parallel()
	short := memberID(1).Short()
	other := ID(short + "ffff-1111-4222-8333-444444444444")
	tests := map[string]struct {
		change func(*View)
		want   ID
	}{
		"unknown": {func(*View) {}, ""},
		"a unit has published it": {
			func(v *View) { v.Names = []ID{memberID(2), memberID(1)} }, memberID(1),
		},
		"two have published the same": {
			func(v *View) { v.Names = []ID{memberID(1), memberID(2), memberID(1)} }, memberID(1),
		},
		"two different ones fit":                    {func(v *View) { v.Names = []ID{memberID(1), other} }, ""},
		"two different ones, and one of them again": {func(v *View) { v.Names = []ID{memberID(1), other, memberID(1)} }, ""},
		"none of the names fits":                    {func(v *View) { v.Names = []ID{memberID(2), memberID(3)} }, ""},
		"it says it itself": {
			func(v *View) { v.Probes = []ProbeResult{{Address: memberAddress(1), Server: memberID(1)}} }, memberID(1),
		},
		"own_answer_is_preferred": {func(v *View) {
			v.Names, v.Probes = []ID{other}, []ProbeResult{{Address: memberAddress(1), Server: memberID(1)}}
		}, memberID(1)},
		"another one answers at its address": {func(v *View) {
			v.Probes = []ProbeResult{{Address: memberAddress(1), Server: memberID(2)}}
		}, ""},
	}
	for name, tt := range tests {
		v := viewOf(0, allUp(3))
		v.Probes = nil
		tt.change(&v)
		peers := v.Peers()
		assert.Equal(t, tt.want, peers[1].ID, name)
		assert.Equal(t, memberID(0), peers[0].ID, "the server's own ID, %s", name)
		if tt.want == "" {
			assert.Equal(t, short, peers[1].Longest(), name)
		} else {
			assert.Equal(t, string(tt.want), peers[1].Longest(), name)
		}
	}
}

// twins returns member 0's view of a cluster of four, whose members 1 and 2 share four digits. Only the first of the
// two answers.
func twins(leader int) (v View, answering, silent ID) {
	v = viewOf(leader, allUp(4))
	answering, silent = memberID(1), ID(memberID(1).Short()+"ffff-1111-4222-8333-444444444444")
	m := &v.Status.Servers[2]
	m.Short = silent.Short()
	v.Probes = []ProbeResult{
		answerOf(v.Status.Servers[1], answering, someCluster), answerOf(v.Status.Servers[3], memberID(3), someCluster),
	}
	v.Names = []ID{answering, silent}
	return v, answering, silent
}

func TestFullID_shared_digits_by_address(t *testing.T) {
	t.Parallel()
	v, answering, silent := twins(3)
	peers := v.Peers()
	assert.True(t, peers[1].Up)
	assert.Equal(t, answering, peers[1].ID)
	assert.False(t, peers[2].Up)
	assert.Equal(t, silent, peers[2].ID, "the other name is taken")

	v.Probes = nil
	assert.Empty(t, v.Peers()[1].ID, "which name is whose is not known")
	assert.Empty(t, v.Peers()[2].ID)
}

func TestFullID_own_digits_shared(t *testing.T) {
	t.Parallel()
	v := viewOf(0, allUp(3))
	m := &v.Status.Servers[1]
	m.Short = memberID(0).Short()
	v.Names, v.Probes = []ID{memberID(0)}, nil
	peers := v.Peers()
	assert.Equal(t, memberID(0), peers[0].ID)
	assert.Empty(t, peers[1].ID)
}

func TestParseID(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ full, identity bool }{
		"7d8017e6-7fae-4d5c-b09d-c3301d930b5b":  {full: true},
		"7D8017E6-7FAE-4D5C-B09D-C3301D930B5B":  {},
		"00000000-0000-0000-0000-000000000000":  {},
		"00000000-0000-0000-0000-000000000001":  {full: true},
		"7d8017e6-7fae-4d5c-b09d-c3301d930b5":   {},
		"7d8017e6-7fae-4d5c-b09d-c3301d930b5bb": {},
		"7d8017e6:7fae-4d5c-b09d-c3301d930b5b":  {},
		" 7d8017e6-7fae-4d5c-b09d-c3301d930b5b": {},
		"7d80":                                  {identity: true},
		"13e4":                                  {identity: true},
		"0017":                                  {identity: true},
		"7D80":                                  {},
		"7d8":                                   {},
		"7d801":                                 {},
		"7d8g":                                  {},
		"7d8\n":                                 {},
		"":                                      {},
	}
	for text, want := range tests {
		id, ok := ParseID(text)
		assert.Equal(t, want.full, ok, "%q as a full ID", text)
		if ok {
			assert.Equal(t, ID(text), id)
		} else {
			assert.Empty(t, id, "%q", text)
		}
		assert.Equal(t, want.identity, IsIdentity(text), "%q as an identity", text)
	}
}
