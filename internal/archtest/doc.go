// Package archtest holds the tests of the project's layout: which package
// may import which, what the pure packages may touch, and the form of files and packages.
// ARCHITECTURE.md explains the layers; the tables in rules.go are them.
package archtest
