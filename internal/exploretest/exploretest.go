// Package exploretest says how far tests explore: `go test` tries a share of what they could,
// `make explore` all of it.
package exploretest

import (
	"os"
	"strconv"
	"testing"
)

// Variable names the variable of the environment that says how many times as much as in
// `go test` is explored, as a number from 2 on.
const Variable = "EXPLORE"

// Factor is that number, 1 if the variable is not set. It fails the test if the variable
// holds anything else.
func Factor(t testing.TB) int {
	t.Helper()
	text, there := os.LookupEnv(Variable)
	if !there {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is not a number from 1 on: %q", Variable, text)
	}
	return n
}
