package lab

import "github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"

// OfferVersion makes a newer version of OVN's packages available to the unit's
// apt-get. Installing it changes nothing but the version, and what the
// maintainer's scripts do.
func (u *Unit) OfferVersion(version string) error { return u.machine.OfferVersion(version) }

// OfferSchemas has the version of [Unit.OfferVersion] bring newer schemas, too, of
// version [NewerSchema].
func (u *Unit) OfferSchemas() error { return u.machine.OfferSchemas() }

// NewerSchema is the version of the schemas that come with a newer version.
const NewerSchema = machine.NewerSchema

// HoldDpkgLock has the next n calls of apt-get or dpkg find the lock taken.
func (u *Unit) HoldDpkgLock(n int) error { return u.machine.HoldLock(n) }

// InterruptDpkg leaves ovn-central unpacked but not configured, as a machine that
// is reset during the installation.
func (u *Unit) InterruptDpkg() error { return u.machine.Interrupt() }

// Packages are the versions of what was installed by the unit's apt-get.
func (u *Unit) Packages() map[string]string { return u.machine.Versions() }

// Repositories are what the unit's add-apt-repository was given, in order.
func (u *Unit) Repositories() []string { return u.machine.Repositories() }
