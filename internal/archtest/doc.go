// Package archtest holds the tests of the project's layout: who may import
// whom, what the pure packages may touch, and the form of files and packages.
// ARCHITECTURE.md explains the layers; the tables in rules_test.go are them.
package archtest
