// Package exploretest says how far tests explore: `go test` tries a share of what they could,
// and EXPLORE=10 in the environment ten times as much.
package exploretest

import (
	"os"
	"strconv"
	"testing"
)

// variable names the variable of the environment that says how many times as much as in
// `go test` is explored, as a number from 2 on.
const variable = "EXPLORE"

// Factor is how many times as much as in `go test` is explored, by the variable EXPLORE of the
// environment: 1 if it is not set. It fails the test if the variable holds anything else.
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
