package apt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// Source is the source of packages that a value of the config option `source` means. The zero value, for `distro`,
// changes nothing.
type Source struct {
	// Keyring is a package with the archive's key, which must be installed first.
	Keyring string
	// Key is an OpenPGP public key in ASCII armour; KeyID is the fingerprint or long ID of a key to fetch. At most
	// one of them is set.
	Key, KeyID string
	// File is the name of a file in sources.list.d, and Line its only line.
	File, Line string
	// Repository is an argument for add-apt-repository, which finds the address and the key of a personal archive.
	Repository string
}

// allowed returns the reason that names the possible values of `source` on a machine with this system.
func allowed(release OS) finding.Reason {
	if release.ID == ubuntu {
		return finding.Reason{Code: finding.SourcesOfUbuntu}
	}
	return finding.Reason{Code: finding.SourcesOfDebian}
}

// ParseSource parses a value of the config option `source` for a machine with this system. If the value can't be used
// there, the error has the value, without passwords and keys, the reason and the allowed values.
//
// A release is named as in the cloud archive: `cloud:jammy-caracal` is its pocket, `cloud:jammy-caracal/proposed` the
// pocket before it, and `cloud:caracal` the only pocket of that name. `caracal` is any source of that release: on
// noble, which has that release itself, it is the distribution.
func ParseSource(value string, release OS) (Source, error) {
	value = strings.TrimSpace(value)
	source, problem := parseSource(value, release)
	if !problem.IsZero() {
		shown, _, _ := strings.Cut(value, "|")
		return Source{}, fmt.Errorf("source %q cannot be used: %s", run.Redact(shown), problem)
	}
	return source, nil
}

// SourceProblem returns why a value of the config option `source` can't be used on a machine with this system, without
// the value; no reason if it can be used.
func SourceProblem(value string, release OS) finding.Reason {
	_, problem := parseSource(strings.TrimSpace(value), release)
	return problem
}

// parseSource returns a source, or the reason why the value can't be used.
func parseSource(value string, release OS) (s Source, problem finding.Reason) {
	scheme, rest, _ := strings.Cut(value, ":")
	switch {
	case value == "" || value == "distro":
		return s, problem
	case strings.ContainsRune(value, '\x00'):
		return s, finding.Reason{Code: finding.SourceNoText, Because: []finding.Reason{allowed(release)}}
	case strings.HasPrefix(value, "deb "):
		return debLine(value, release)
	case release.ID != ubuntu:
		return s, finding.Reason{
			Code: finding.SourceOnSystem, Name: release.String(), Because: []finding.Reason{allowed(release)},
		}
	case scheme == "http" || scheme == "https":
		return archiveURL(value, release)
	case scheme == "ppa":
		if !isPPA.MatchString(rest) {
			return s, finding.Reason{Code: finding.SourceNoPPA}
		}
		return Source{Repository: value}, problem
	case scheme == "cloud":
		return cloudPocket(rest, release)
	case isRelease(strings.TrimSuffix(value, "/proposed")):
		return bareRelease(value, release)
	}
	return s, allowed(release)
}

var isPPA = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*$`)

func isRelease(name string) bool {
	return slices.ContainsFunc(allSeries, func(s series) bool { return s.own == name || slices.Contains(s.added, name) })
}

// bareRelease returns a release's pocket for this system, or nothing if it is the system's own release.
func bareRelease(value string, release OS) (s Source, problem finding.Reason) {
	name, proposed := strings.CutSuffix(value, "/proposed")
	i := slices.IndexFunc(allSeries, func(s series) bool { return s.codename == release.Codename })
	if i < 0 {
		return s, finding.Reason{Code: finding.SourceNoReleases, Name: release.String()}
	}
	switch known := allSeries[i]; {
	case known.own == name && !proposed:
		return s, problem
	case slices.Contains(known.added, name):
		return cloudPocket(known.codename+"-"+value, release)
	default:
		problem = finding.Reason{Code: finding.SourceNoRelease, Name: release.String(), Value: value}
		for _, has := range append([]string{known.own}, known.added...) {
			problem.Because = append(problem.Because, finding.Quote(has))
		}
		return s, problem
	}
}

// cloudArchive is Ubuntu's archive of newer OpenStack releases. The package has its key.
const (
	cloudArchive = "http://ubuntu-cloud.archive.canonical.com/ubuntu"
	cloudKeyring = "ubuntu-cloud-keyring"
)

// cloudPocket parses SERIES-RELEASE or RELEASE, with /updates (the default), /proposed or /staging after it.
func cloudPocket(text string, release OS) (source Source, problem finding.Reason) {
	name, pocket, _ := strings.Cut(text, "/")
	for _, s := range allSeries {
		added, ok := strings.CutPrefix(name, s.codename+"-")
		if !ok {
			added = name
		}
		if !slices.Contains(s.added, added) {
			continue
		}
		if s.codename != release.Codename {
			return source, finding.Reason{Code: finding.SourceOfOtherOS, Value: s.codename, Name: release.String()}
		}
		file := "cloud-archive.list"
		if strings.HasPrefix(added, "ovn-") {
			file = "cloud-archive-ovn.list" // next to the file of the other source
		}
		source = Source{Keyring: cloudKeyring, File: file}
		switch pocket {
		case "", "updates":
			source.Line = fmt.Sprintf("deb %s %s-updates/%s main", cloudArchive, s.codename, added)
		case "proposed":
			source.Line = fmt.Sprintf("deb %s %s-proposed/%s main", cloudArchive, s.codename, added)
		case "staging":
			source = Source{Repository: "ppa:ubuntu-cloud-archive/" + added + "-staging"}
		default:
			return Source{}, finding.Reason{Code: finding.SourceNoPocket, Value: strconv.Quote(pocket)}
		}
		return source, problem
	}
	return source, finding.Reason{
		Code: finding.SourceUnknown, Value: strconv.Quote(name), Because: []finding.Reason{allowed(release)},
	}
}

// archiveURL returns the archive's main component for this system.
func archiveURL(value string, release OS) (Source, finding.Reason) {
	address, key, _ := strings.Cut(value, "|")
	address = strings.TrimSpace(address)
	if u, err := url.Parse(address); err != nil || u.Host == "" || strings.ContainsAny(address, " \t\n") {
		return Source{}, finding.Reason{Code: finding.SourceNoURL, Because: []finding.Reason{allowed(release)}}
	}
	return debLine("deb "+address+" "+release.Codename+" main|"+key, release)
}

// isDebLine matches a line of sources.list(5): options, address, suite, components.
var isDebLine = regexp.MustCompile(`^deb( \[[^\]\n]+\])? [a-z+]+:\S+ \S+( \S+)*$`)

// hasSignedBy matches a line that names its archive's keys itself.
var hasSignedBy = regexp.MustCompile(`^deb \[[^\]]*\bsigned-by\s*[+-]?=`)

// debLine puts a line of sources.list into a file of its own. The file's name depends on the line, so that two
// options can have different lines. The system's codename replaces {series}.
func debLine(value string, release OS) (source Source, problem finding.Reason) {
	line, key, _ := strings.Cut(value, "|")
	several := strings.Contains(line, "\n")
	line = strings.ReplaceAll(strings.Join(strings.Fields(line), " "), "{series}", release.Codename)
	if several || !isDebLine.MatchString(line) {
		return source, finding.Reason{Code: finding.SourceNoDebLine}
	}
	source = Source{Line: line, File: fmt.Sprintf(ownPrefix+"%.4x.list", sha256.Sum256([]byte(line)))}
	switch key = strings.TrimSpace(key); {
	case key == "":
	case hasSignedBy.MatchString(line):
		return Source{}, finding.Reason{Code: finding.SourceKeysTwice}
	case isArmoured(key):
		source.Key = key + "\n"
	case isKeyID(key):
		source.KeyID = strings.TrimPrefix(key, "0x")
	default:
		return Source{}, finding.Reason{Code: finding.SourceKeyNone}
	}
	return source, problem
}

// isKeyID refuses IDs of 8 digits: keys with such an ID can be forged.
func isKeyID(text string) bool {
	id, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	return err == nil && (len(id) == 8 || len(id) == 20)
}

func isArmoured(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "-----BEGIN PGP PUBLIC KEY BLOCK-----") &&
		strings.HasSuffix(text, "-----END PGP PUBLIC KEY BLOCK-----")
}

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
