// Package exploretest determines how much tests explore: `go test` tries a share of the possible cases, and
// EXPLORE=10 in the environment ten times as many.
package exploretest

import (
	"os"
	"strconv"
	"testing"
)

// variable is the name of the environment variable that multiplies the cases which `go test` explores, by a number
// from 1 on.
const variable = "EXPLORE"

// Factor returns the factor in the environment variable EXPLORE, by which a test multiplies the cases that it
// explores in `go test`; 1 if the variable is not set. It fails the test if the variable holds anything else.
func Factor(t testing.TB) int {
	t.Helper()
	text, there := os.LookupEnv(variable)
	if !there {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is not a number from 1 on: %q", variable, text)
	}
	return n
}
