// Package machines boots machines for tests: systemd as pid 1 in systemd-nspawn
// containers over a Debian root, each with its own disk, control group and
// network card, on one network that leads nowhere else. What can be done to a
// machine can be done here: install packages, restart, pull its power or its
// network cable.
//
// It needs root, and Debian with what tests/install-deps machines installs. It runs beside
// everything else on the host: what it makes is in network namespaces, control
// groups and mounts of its own, all named ovn-e2e, and in one directory. A run
// that was killed takes its machines with it, and the next run cleans up the rest;
// a second run waits for the first.
//
// What isn't real: the kernel is the host's, so that there is one clock, and a
// machine whose power is pulled loses nothing of what it had written.
package machines
