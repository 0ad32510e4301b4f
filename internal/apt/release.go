package apt

import (
	"fmt"
	"os"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// OS describes a machine's system, as in its os-release file.
type OS struct {
	// ID is ubuntu or debian, VersionID 22.04 or 12, Codename jammy or bookworm.
	ID, VersionID, Codename string
}

// OSRelease is the file that describes a machine's system: os-release(5).
const OSRelease = "/etc/os-release"

// ReadOS reads a file of the form of os-release(5). It returns an error for a system without a codename, since
// package sources contain it.
func ReadOS(path string) (OS, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return OS{}, fmt.Errorf("cannot tell this machine's system: %w", err)
	}
	fields := systemd.ParseEnvironment(text)
	release := OS{ID: fields["ID"], VersionID: fields["VERSION_ID"], Codename: fields["VERSION_CODENAME"]}
	if release.ID == "" || release.Codename == "" {
		return OS{}, fmt.Errorf("cannot tell this machine's system: %s names no ID or no VERSION_CODENAME", path)
	}
	return release, nil
}

// String returns the system's name for people.
func (o OS) String() string { return strings.TrimSpace(o.ID + " " + o.VersionID + " " + o.Codename) }

// ubuntu is the only system that the cloud archive and personal archives support.
const ubuntu = "ubuntu"

// series is a long-term release of Ubuntu, with the OpenStack release in its own archive and those of the cloud
// archive. Juju's machines run no other systems of Ubuntu.
type series struct {
	codename, own string
	added         []string
}

// allSeries follows fetch/ubuntu.py of charm-helpers (UBUNTU_OPENSTACK_RELEASE and CLOUD_ARCHIVE_POCKETS, May
// 2026). Names that begin with ovn- are pockets with only OVN and Open vSwitch.
var allSeries = []series{
	{"focal", "ussuri", []string{"victoria", "wallaby", "xena", "yoga", "ovn-22.03"}},
	{"jammy", "yoga", []string{"zed", "antelope", "bobcat", "caracal"}},
	{"noble", "caracal", []string{"dalmatian", "epoxy", "flamingo", "gazpacho"}},
	{"resolute", "gazpacho", nil},
}
