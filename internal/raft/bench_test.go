package raft

import "testing"

func BenchmarkParseFiveMembers(b *testing.B) {
	text := capture(b, "sb-5member-leader-one-dead.txt")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
