package ovndb

import (
	"fmt"
	"strings"
)

// Version is that of the packages which the databases' servers are made of, as
// dpkg has them: ovn-central, which brings the schemas and ovn-northd, and
// openvswitch-common, which brings ovsdb-server. A part that is not known is empty.
type Version struct{ OVN, OVS string }

// between stands in the text between the two parts; no version of a package has a
// blank in it (deb-version(7)).
const between = " openvswitch "

// String is the version as it is published and remembered. A unit with this charm
// before it looked at openvswitch-common has the first part alone.
func (v Version) String() string {
	if v.OVS == "" {
		return v.OVN
	}
	return v.OVN + between + v.OVS
}

// ParseVersion reads what [Version.String] wrote.
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

// Is says whether two versions are one, as far as both are known.
func (v Version) Is(w Version) bool {
	return v.OVN == w.OVN && (v.OVS == w.OVS || v.OVS == "" || w.OVS == "")
}

// Change says what a restart brings to a service that runs v where w is installed.
func (v Version) Change(w Version) string {
	if v.OVN != w.OVN {
		return fmt.Sprintf("upgrade from %s to %s", v.OVN, w.OVN)
	}
	return fmt.Sprintf("upgrade of openvswitch from %s to %s", v.OVS, w.OVS)
}
