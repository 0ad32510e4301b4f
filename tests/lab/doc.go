// Package lab plays Juju on one machine: units with machines of their own (a
// network namespace on a common bridge, directories, a systemd that runs the
// packages' units, package tools and a firewall to look at), real ovsdb-server
// processes in Raft clusters over TLS, and a charm that runs as it would under
// Juju, unchanged and unaware: dispatch, environment, hook tools, order of hooks,
// errors and retries, actions with their parameters parsed and validated by
// Juju's own libraries.
//
// A unit's machine is either laid out by the lab, as the Python charm leaves one
// that is a member of both clusters, or fresh: without packages, for the charm to
// install. It needs root, or a user namespace that has it, and of the system ip,
// nsenter and the packages of OVN. Nothing is registered with the system: the
// machines end with their processes.
//
// Where the lab and Juju differ, the lab is wrong. It is modelled on Juju 3.6.11;
// what other versions do otherwise are [Ways], each with a switch of its own.
// What it doesn't have: storage, secrets, resources, subordinates, an order
// between services (After=), and a filter behind the rules that ufw keeps. A
// server that is killed stays dead until it is started, unless [Options].Restart
// is set. Update-status runs when it is asked for, not by a clock, and a failed
// hook is retried when it is asked for.
//
// A program that uses the package, a test's too, is itself run under the names
// of systemctl and of the guard; its main, or TestMain, calls
// [Intercept] first:
//
//	func TestMain(m *testing.M) { lab.Intercept(); os.Exit(m.Run()) }
package lab
