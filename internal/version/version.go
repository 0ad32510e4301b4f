// Package version says which build this is.
package version

// Version is set when the binary is linked (see the Makefile).
var Version = "unknown"
