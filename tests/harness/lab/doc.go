// Package lab replaces Juju on one host. Each unit has its own machine: a network
// namespace on a common bridge, directories, a systemd that runs the packages'
// units, package tools and a firewall that tests can read. The database servers
// are real ovsdb-server processes in Raft clusters over TLS. The charm runs
// unchanged, as under Juju: dispatch, environment, hook tools, order of hooks,
// errors and retries, and actions, whose parameters Juju's own libraries parse
// and validate.
//
// The lab prepares a unit's machine in one of two ways: as the Python charm leaves
// a member of both clusters, or empty, so that the charm installs the packages.
// The lab needs root, or a user namespace with root, and the programs ip and
// nsenter and the packages of OVN. It registers nothing with the system: the
// machines end with their processes.
//
// If the lab and Juju differ, the lab is wrong. It is modelled on Juju 3.6.11; the
// differences of other versions are [Ways], each with its own switch. The lab has
// no storage, secrets, resources, subordinates or order between services (After=),
// and the rules that ufw keeps filter nothing. A server that is killed stays dead
// until it is started, unless [Options].Restart is set. Update-status and the retry
// of a failed hook run when the test asks for them, not by a clock.
//
// If a test fails and the environment has KEEP=1, its labs stay ([Lab.CloseOrKeep]). The test prints the
// commands of ovn-lab that show such a lab, run one of its hooks again, also in a debugger, and end it. A lab
// whose test program is killed, by the limit of `go test` too, is cleaned up by its guard and does not stay.
//
// A program that uses the package, also a test, is run under the names of systemctl
// and of the guard too; so its main, or TestMain, calls [Intercept] first:
//
//	func TestMain(m *testing.M) { lab.Intercept(); os.Exit(m.Run()) }
package lab
