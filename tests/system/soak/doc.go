// Package soak runs random schedules of operations and faults on real servers, in
// the lab, and checks invariants after every step and at the end.
//
// A [Schedule] is data: it is made from a seed, can be stored, and can be run again.
// [Shrink] removes steps from one that breaks an invariant as long as it still
// breaks one, and the rest is printed as JSON. Schedules below testdata are tests.
//
// Two parts are pure: the drawing of schedules (generate.go), and the decision which
// faults explain a loss of quorum ([Cost.Judge]). The rest operates the lab and
// checks its state.
package soak
