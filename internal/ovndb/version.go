package ovndb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version has the versions of the packages of the databases' servers, in dpkg's form: ovn-central, which has the
// schemas and ovn-northd, and openvswitch-common, which has ovsdb-server. Unknown parts are empty.
type Version struct{ OVN, OVS string }

// between separates the two parts in the text. A package's version never has a blank (deb-version(7)).
const between = " openvswitch "

// String returns the form that is published and stored. It has only the first part if the version of Open vSwitch is
// unknown.
func (v Version) String() string {
	if v.OVS == "" {
		return v.OVN
	}
	return v.OVN + between + v.OVS
}

// ParseVersion parses a text of [Version.String].
func ParseVersion(text string) Version {
	ovn, ovs, _ := strings.Cut(text, between)
	return Version{OVN: ovn, OVS: ovs}
}

// MarshalText implements [encoding.TextMarshaler].
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Version) UnmarshalText(text []byte) error {
	*v = ParseVersion(string(text))
	return nil
}

// Is reports whether two versions are equal, as far as both are known.
func (v Version) Is(w Version) bool {
	return v.OVN == w.OVN && (v.OVS == w.OVS || v.OVS == "" || w.OVS == "")
}

// Change describes the effect of a restart on a service that runs v if w is installed.
func (v Version) Change(w Version) string {
	if v.OVN != w.OVN {
		return fmt.Sprintf("upgrade from %s to %s", v.OVN, w.OVN)
	}
	return fmt.Sprintf("upgrade of openvswitch from %s to %s", v.OVS, w.OVS)
}

// Upstream returns the upstream part of a Debian version (deb-version(7)).
func Upstream(version string) string {
	if _, rest, found := strings.Cut(version, ":"); found {
		version = rest
	}
	version, _, _ = strings.Cut(version, "-")
	return version
}

// SchemaVersion is the version of a database's schema, X.Y.Z (RFC 7047, section 3.1).
type SchemaVersion [3]uint64

// ParseSchemaVersion parses a version.
func ParseSchemaVersion(text string) (v SchemaVersion, err error) {
	text = strings.TrimSpace(text)
	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return v, fmt.Errorf("not a version: %q", text)
	}
	for i, part := range parts {
		if v[i], err = strconv.ParseUint(part, 10, 32); err != nil {
			return v, fmt.Errorf("not a version: %q", text)
		}
	}
	return v, nil
}

// Before reports whether v is lower than w.
func (v SchemaVersion) Before(w SchemaVersion) bool { return slices.Compare(v[:], w[:]) < 0 }

// String returns the form X.Y.Z.
func (v SchemaVersion) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Schemas has two versions of a database's schema, in the form X.Y.Z; empty if unknown.
type Schemas struct {
	// Served is the version that this unit's server serves, Packages the version in the packages: the installed ones, or
	// those that an upgrade would bring.
	Served, Packages string
	// Older and Newer report how Served compares with Packages.
	Older, Newer bool
}

// CompareSchemas compares the served version of a schema with the packages'.
func CompareSchemas(served, packages SchemaVersion) Schemas {
	return Schemas{served.String(), packages.String(), served.Before(packages), packages.Before(served)}
}
