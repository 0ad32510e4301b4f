package apt_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
)

var (
	jammy    = apt.OS{ID: "ubuntu", VersionID: "22.04", Codename: "jammy"}
	noble    = apt.OS{ID: "ubuntu", VersionID: "24.04", Codename: "noble"}
	focal    = apt.OS{ID: "ubuntu", VersionID: "20.04", Codename: "focal"}
	bookworm = apt.OS{ID: "debian", VersionID: "12", Codename: "bookworm"}
)

// armoured is the key of Debian's stable releases for bookworm, and armouredID its fingerprint.
const (
	armouredID = "4D64FEC119C2029067D6E791F8D2585B8783D481"
	armoured   = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEY865UxYJKwYBBAHaRw8BAQdAd7Z0srwuhlB6JKFkcf4HU4SSS/xcRfwEQWzr
crf6AEq0SURlYmlhbiBTdGFibGUgUmVsZWFzZSBLZXkgKDEyL2Jvb2t3b3JtKSA8
ZGViaWFuLXJlbGVhc2VAbGlzdHMuZGViaWFuLm9yZz6IlgQTFggAPhYhBE1k/sEZ
wgKQZ9bnkfjSWFuHg9SBBQJjzrlTAhsDBQkPCZwABQsJCAcCBhUKCQgLAgQWAgMB
Ah4BAheAAAoJEPjSWFuHg9SBSgwBAP9qpeO5z1s5m4D4z3TcqDo1wez6DNya27QW
WoG/4oBsAQCEN8Z00DXagPHbwrvsY2t9BCsT+PgnSn9biobwX7bDDg==
=5NZE
-----END PGP PUBLIC KEY BLOCK-----`
)

func pocket(file, suite string) apt.Source {
	return apt.Source{
		Keyring: "ubuntu-cloud-keyring", File: file,
		Line: "deb http://ubuntu-cloud.archive.canonical.com/ubuntu " + suite + " main",
	}
}

// What apt makes of the cloud archive and of personal archives can't be shown
// without them: this is up to the files and commands.
func TestSourceIsReadAsTheMachineUnderstandsIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		value   string
		release apt.OS
		wanted  apt.Source
	}{
		"nothing":                       {"", jammy, apt.Source{}},
		"distribution":                  {"distro", noble, apt.Source{}},
		"distribution with spaces":      {" distro\n", bookworm, apt.Source{}},
		"release of the distribution":   {"caracal", noble, apt.Source{}},
		"older of the distribution":     {"yoga", jammy, apt.Source{}},
		"release of the cloud archive":  {"caracal", jammy, pocket("cloud-archive.list", "jammy-updates/caracal")},
		"yoga where it is added":        {"yoga", focal, pocket("cloud-archive.list", "focal-updates/yoga")},
		"proposed release":              {"caracal/proposed", jammy, pocket("cloud-archive.list", "jammy-proposed/caracal")},
		"pocket":                        {"cloud:jammy-caracal", jammy, pocket("cloud-archive.list", "jammy-updates/caracal")},
		"pocket without its series":     {"cloud:caracal", jammy, pocket("cloud-archive.list", "jammy-updates/caracal")},
		"pocket with updates":           {"cloud:noble-epoxy/updates", noble, pocket("cloud-archive.list", "noble-updates/epoxy")},
		"proposed pocket":               {"cloud:jammy-antelope/proposed", jammy, pocket("cloud-archive.list", "jammy-proposed/antelope")},
		"pocket with OVN only":          {"cloud:focal-ovn-22.03", focal, pocket("cloud-archive-ovn.list", "focal-updates/ovn-22.03")},
		"proposed pocket with OVN only": {"cloud:focal-ovn-22.03/proposed", focal, pocket("cloud-archive-ovn.list", "focal-proposed/ovn-22.03")},
		"staging":                       {"cloud:jammy-bobcat/staging", jammy, apt.Source{Repository: "ppa:ubuntu-cloud-archive/bobcat-staging"}},
		"personal archive":              {"ppa:someone/ovn-22.03", jammy, apt.Source{Repository: "ppa:someone/ovn-22.03"}},
		"deb line": {"deb http://example.com/debian bookworm main extra", bookworm, apt.Source{
			File: "ovn-central-350e6e9b.list", Line: "deb http://example.com/debian bookworm main extra",
		}},
		"deb line with options and series": {"deb  [arch=amd64] https://example.com/ubuntu {series}-ovn main", jammy, apt.Source{
			File: "ovn-central-5e5a0e3f.list", Line: "deb [arch=amd64] https://example.com/ubuntu jammy-ovn main",
		}},
		"deb line with a key": {"deb http://example.com/debian bookworm main|" + armoured, bookworm, apt.Source{
			File: "ovn-central-24d3a1c5.list", Line: "deb http://example.com/debian bookworm main", Key: armoured + "\n",
		}},
		"deb line with a key's ID": {"deb http://example.com/debian bookworm main | 0x5EDB1B62EC4926EA", bookworm, apt.Source{
			File: "ovn-central-24d3a1c5.list", Line: "deb http://example.com/debian bookworm main", KeyID: "5EDB1B62EC4926EA",
		}},
		"URL": {"http://example.com/ubuntu", jammy, apt.Source{
			File: "ovn-central-00000000.list", Line: "deb http://example.com/ubuntu jammy main",
		}},
		"URL with a key's ID": {"https://example.com/ubuntu|5EDB1B62EC4926EA", jammy, apt.Source{
			File: "ovn-central-00000000.list", Line: "deb https://example.com/ubuntu jammy main", KeyID: "5EDB1B62EC4926EA",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := apt.ParseSource(test.value, test.release)
			require.NoError(t, err)
			assert.Equal(t, strings.TrimSpace(test.value), got.Value)
			if strings.HasPrefix(test.wanted.File, "ovn-central-") {
				assert.Regexp(t, `^ovn-central-[0-9a-f]{8}\.list$`, got.File)
				got.File = test.wanted.File
			}
			test.wanted.Value = got.Value
			assert.Equal(t, test.wanted, got)
		})
	}
}

func TestSourcesOfTwoLinesHaveTwoFiles(t *testing.T) {
	t.Parallel()
	one, err := apt.ParseSource("deb http://example.com/a ./", bookworm)
	require.NoError(t, err)
	again, err := apt.ParseSource("deb  http://example.com/a  ./ ", bookworm)
	require.NoError(t, err)
	other, err := apt.ParseSource("deb http://example.com/b ./", bookworm)
	require.NoError(t, err)
	assert.Equal(t, one.File, again.File)
	assert.NotEqual(t, one.File, other.File)
}

func TestSourceThatCannotBeUsedSaysWhatCan(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		value   string
		release apt.OS
		wanted  string
	}{
		"another word":               {"newest", jammy, "allowed are distro"},
		"release of another series":  {"epoxy", jammy, "ubuntu 22.04 jammy has no epoxy; it has yoga, zed, antelope, bobcat, caracal"},
		"own release, proposed":      {"yoga/proposed", jammy, "has no yoga/proposed"},
		"unknown series":             {"caracal", apt.OS{ID: "ubuntu", VersionID: "31.04", Codename: "zany"}, "no releases are known for ubuntu 31.04 zany"},
		"pocket of another series":   {"cloud:noble-epoxy", jammy, "it is for noble, and this machine runs ubuntu 22.04 jammy"},
		"pocket of no series":        {"cloud:epoxy", jammy, "it is for noble"},
		"pocket that is not there":   {"cloud:jammy-grizzly", jammy, `the cloud archive has no "jammy-grizzly"`},
		"pocket of its own release":  {"cloud:jammy-yoga", jammy, `the cloud archive has no "jammy-yoga"`},
		"part that is not there":     {"cloud:jammy-caracal/daily", jammy, `a release has no "daily"`},
		"cloud archive on Debian":    {"cloud:jammy-caracal", bookworm, "on debian 12 bookworm allowed are distro and a deb line"},
		"release on Debian":          {"caracal", bookworm, "on debian 12 bookworm"},
		"personal archive on Debian": {"ppa:a/b", bookworm, "on debian 12 bookworm"},
		"URL on Debian":              {"http://example.com/debian", bookworm, "on debian 12 bookworm"},
		"no personal archive":        {"ppa:someone", jammy, "written ppa:OWNER/NAME"},
		"options of a command":       {"ppa:--help/x", jammy, "written ppa:OWNER/NAME"},
		"deb line that is cut off":   {"deb http://example.com", jammy, "one deb line is written deb URL SUITE COMPONENT"},
		"two lines":                  {"deb http://a main\ndeb-src http://b", jammy, "one deb line is written deb URL SUITE COMPONENT"},
		"no URL":                     {"http://", jammy, "it is no URL"},
		"key's short ID":             {"deb http://example.com/a ./|EC4926EA", bookworm, "16 or 40 hex digits"},
		"half a key":                 {"deb http://example.com/a ./|-----BEGIN PGP PUBLIC KEY BLOCK-----", bookworm, "ASCII armour"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := apt.ParseSource(test.value, test.release)
			refused := (*apt.SourceError)(nil)
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, test.wanted)
			shown, _, _ := strings.Cut(test.value, "|")
			assert.Equal(t, shown, refused.Value)
		})
	}
}

func TestSourceErrorShowsNoPassword(t *testing.T) {
	t.Parallel()
	_, err := apt.ParseSource("deb https://me:secret@example.com", jammy)
	require.ErrorContains(t, err, `source "deb https://…@example.com" cannot be used`)
}

func TestSystemIsReadFromOSRelease(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "os-release")
	systems := map[string]apt.OS{}
	systems["PRETTY_NAME=\"Ubuntu 22.04.3 LTS\"\nVERSION_ID=\"22.04\"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=jammy\n"] = jammy
	systems["ID=debian\nVERSION_ID='12'\nVERSION_CODENAME=bookworm"] = bookworm
	systems["ID=debian\nVERSION_CODENAME=sid\n"] = apt.OS{ID: "debian", Codename: "sid"}
	for text, wanted := range systems {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := apt.ReadOS(path)
		require.NoError(t, err)
		assert.Equal(t, wanted, got)
	}
	require.NoError(t, os.WriteFile(path, []byte("ID=arch\n"), 0o600))
	_, err := apt.ReadOS(path)
	require.ErrorContains(t, err, "names no ID or no VERSION_CODENAME")
	_, err = apt.ReadOS(path + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)

	here, err := apt.ReadOS(apt.OSRelease)
	require.NoError(t, err)
	assert.Contains(t, []string{"debian", "ubuntu"}, here.ID)
}

// packets is what the key of the tests consists of: the key itself is the first 53 bytes.
func packets(t *testing.T) []byte {
	t.Helper()
	lines := strings.Split(armoured, "\n")
	data, err := base64.StdEncoding.DecodeString(strings.Join(lines[2:len(lines)-2], ""))
	require.NoError(t, err)
	return data
}

func armour(data []byte) string {
	return "-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: none\n\n" + base64.StdEncoding.EncodeToString(data) + "\n-----END PGP PUBLIC KEY BLOCK-----\n"
}

func TestKeyIsTheOneOfThatID(t *testing.T) {
	t.Parallel()
	all := packets(t)
	for _, id := range []string{armouredID, strings.ToLower(armouredID), armouredID[24:]} {
		require.NoError(t, apt.CheckKey(armoured, id), id)
		require.NoError(t, apt.CheckKey(strings.ReplaceAll(armoured, "\n", "\r\n"), id), id)
	}
	long := append([]byte{0xc6, 0xff, 0, 0, 0, all[1]}, all[2:]...) // the same packet with another form of length
	require.NoError(t, apt.CheckKey(armour(long), armouredID))
	secret := append([]byte{5<<2 | 0x80}, all[1:]...)
	sub := append([]byte{14<<2 | 0x80}, all[1:]...)
	other := append([]byte{}, all[:53]...)
	other[20] ^= 1
	for name, c := range map[string]struct{ text, want string }{
		"another key":        {armour(other), `it is the key "`},
		"a key before it":    {armour(append(append([]byte{}, other...), all...)), "it has several keys"},
		"a key behind it":    {armour(append(append([]byte{}, all...), other...)), "it has several keys"},
		"as a subkey only":   {armour(append(append([]byte{}, other...), sub...)), `it is the key "`},
		"a secret key":       {armour(secret), "it is a secret key"},
		"of another version": {armour(append([]byte{all[0], all[1], 3}, all[3:]...)), "it is no key of version 4"},
		"cut short":          {armour(all[:40]), "it is damaged"},
		"no packet":          {armour([]byte("hello")), "it is damaged"},
		"nothing in it":      {armour(nil), "it is the key \"\""},
		"no armour":          {"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!\n-----END PGP PUBLIC KEY BLOCK-----", "its ASCII armour is damaged"},
		"one line":           {"-----BEGIN PGP PUBLIC KEY BLOCK-----", "it is the key \"\""},
	} {
		assert.ErrorContains(t, apt.CheckKey(c.text, armouredID), c.want, name)
	}
	for i := range all { // nothing of this panics
		_ = apt.CheckKey(armour(all[:i]), armouredID)
		_ = apt.CheckKey(armour(all[i:]), armouredID)
	}
}
