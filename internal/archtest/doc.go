// Package archtest tests the project's layout: which package may import which, what the pure packages may use, and the
// form of files and packages. ARCHITECTURE.md explains the layers; the tables in rules.go define them.
package archtest
