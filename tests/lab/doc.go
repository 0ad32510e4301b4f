// Package lab plays Juju on one machine: units with machines of their own (an
// address in 127.0.0.0/8, directories, a systemctl), real ovsdb-server
// processes in Raft clusters, and a charm that runs as it would under Juju,
// unchanged and unaware: dispatch, environment, hook tools, order of hooks,
// errors and retries, actions with their parameters parsed and validated by
// Juju's own libraries.
//
// Where the lab and Juju differ, the lab is wrong. It is modelled on Juju 3.6.11.
// What it doesn't have: relations other than the peer relations of the charm,
// storage, secrets, resources, subordinates, upgrades of the charm, and
// Restart=on-failure of the services (a server that is killed stays dead until
// it is started). Update-status runs when it is asked for, not by a clock, and a
// failed hook is retried when it is asked for.
//
// A program that uses the package, a test's too, is itself run under the names
// of the hook tools, of systemctl and of the guard; its main, or TestMain, calls
// [Intercept] first:
//
//	func TestMain(m *testing.M) { lab.Intercept(); os.Exit(m.Run()) }
package lab
