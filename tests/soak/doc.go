// Package soak runs random schedules of operations and faults on real servers, in
// the lab, and holds what is left against invariants after every step and at the
// end.
//
// A [Schedule] is data: it is made from a seed, can be stored, and is replayed. One
// that breaks an invariant is made as short as it still breaks one ([Shrink]), and
// printed as JSON; below testdata it is a test from then on.
//
// What is drawn is pure (generate.go), what a loss of quorum is put down to is pure
// too ([Cost.Judge]); the rest drives the lab and looks.
package soak
